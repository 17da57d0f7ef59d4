r"""Linear mixture transitions P(s'|s,a) = ψ(s'|s,a)ᵀw, learned from the successors themselves: the bonus has no scale to be set.

    w = w₀ + Bu,   P(s') = p₀(s') + ψ̃(s')ᵀu,   Σ_{s'} P(s') = 1 whatever u is                        (`mixture_coordinates`)
    A = Σ_j α_j Σ_{s'} ψ̃(s')ψ̃(s')ᵀ/p̂_j(s'),   b = Σ_j α_j Σ_{s'} ψ̃(s')(1{s' = s'_j} − p₀(s'))/p̂_j(s')
    û = (A + I/τ²)⁻¹b,   p̂_j(s') = max(p₀ + ψ̃ᵀû_j, 0.01),   optimistic next value:  p₀ᵀV + ψ̃_Vᵀû + c‖ψ̃_V‖_{(A + I/τ²)⁻¹}

One transition is as many observations 1{s' = s'_j} of ψ(s')ᵀw as there are successors, each weighted by 1/p̂: then A is the Fisher
information of the transitions and û a step of the scoring method towards the likeliest u. E[b] = E[A]u whatever p̂ is, so that a bad p̂ costs
information and adds no bias. Values do not enter: the paper's regression on V(s') (`value_targeted`) learns nothing of w where V hardly
depends on it, and its bonus, in units of V, needs a scale. Here ‖ψ̃_V‖_{(A + I/τ²)⁻¹} is the standard deviation of E[V(s')], if at first
w ~ N(w₀, τ²I) with probabilities that sum to 1. w₀ is the even mixture, τ = ½ and c = 1 are practical choices: c = 0.3 explores too
little where the current of a river jumps (mean regret of 80 runs 155 against 96). No theorem is claimed.
"""

from typing import Any, NamedTuple

from ..core.kernel import part, solver, sqrt
from ..core.linalg import Vector
from ..core.state import view_state
from ..errors import InvalidValue, positive, require
from ..protocol import NO_SLOT, elapse, recall, takes_back
from .mixture_coordinates import weights_of
from .protocol import Task, add_next, estimate_transition, learn_transition, surprise, told, transition_state
from .value_targeted import DOUBT, MixtureState, add_values, blank_mixture, estimate_mixture, surprise_of_mixture


@part
class MeasuredMixture(NamedTuple):
    """Linear mixture: standard deviation τ of each weight before anything was seen, scale c of the bonus."""

    spread: float = 0.5
    scale: float = 1.0

    def check(self) -> None:
        """Refuse what is not a prior."""
        positive("spread", self.spread, "it is the standard deviation of w")
        require(self.scale >= 0.0, "transition_bonus_scale", self.scale, "≥ 0", "it multiplies a standard deviation")


@transition_state.register(MeasuredMixture)
def _(transition: MeasuredMixture, task: Task, memory: Any, groups: int) -> MixtureState:
    if takes_back(memory):
        raise InvalidValue("bonus = 'measured' cannot take transitions back: a window needs bonus='fixed'")
    return blank_mixture(task, memory, groups, True, 0.0)


@estimate_transition.register(MeasuredMixture)
def _(transition: MeasuredMixture, state: MixtureState, h: int) -> None:
    estimate_mixture(state, h, 1.0 / (transition.spread * transition.spread))


@add_next.register(MeasuredMixture)
def _(transition: MeasuredMixture, state: MixtureState, h: int, fresh: bool, V: Vector, H: int, out: Vector) -> float:
    if fresh:
        estimate_transition(transition, state, h)
    return add_values(state, h, transition.scale, V, out)


@learn_transition.register(MeasuredMixture)
def _(
    transition: MeasuredMixture, memory: Any, state: MixtureState, h: int, pair: int, successor: int, V: Vector
) -> None:
    _count(memory, state, h, pair, successor)


@solver
def _count(memory: Any, state: MixtureState, h: int, pair: int, successor: int) -> None:
    """A transition passes; if there was one, each of its successors is an observation of ψ̃ᵀu/√p̂, (1 − p₀)/√p̂ or −p₀/√p̂."""
    g, f, x = h % state.u.shape[0], h % state.psi.shape[0], state.x
    history, sums = view_state(state.history, g), view_state(state.sums, g)
    elapse(memory, history, sums)
    if pair < 0:
        return
    for u in range(state.psi.shape[1]):
        base = state.base[f, u, pair]
        p = base
        for i in range(x.shape[0]):
            x[i] = state.psi[f, u, i, pair]
            p += x[i] * state.u[g, i]
        # Dividing the row and the target by √p̂ is the weight 1/p̂: the observation 1{s'} has variance about p̂.
        size = sqrt(max(p, DOUBT))
        for i in range(x.shape[0]):
            x[i] /= size
        # One transition is an observation for every possible successor, 1 for the one that came and 0 for the others.
        seen = 1.0 if state.successor[f, u, pair] == successor else 0.0
        recall(memory, history, sums, x, (seen - base) / size, NO_SLOT, 1.0, 0)


@surprise.register(MeasuredMixture)
def _(transition: MeasuredMixture, state: MixtureState, h: int, pair: int, successor: int) -> float:
    return surprise_of_mixture(state, h, pair, successor)


@told.register(MeasuredMixture)
def _(transition: MeasuredMixture, state: MixtureState) -> dict[str, Any]:
    return {"w": weights_of(state.coordinates, state.u), "transition_radius": float(state.radius.max())}
