r"""What the memories of a group expect of one item, and how sure they are.

With d = φ − S_iᵀR_iψ, the mean is dᵀθ̂ + ψᵀR_it_i and the variance in units of σ² is dᵀA⁻¹d + min(ψᵀR_iψ/f_i, ψᵀK⁻¹ψ) (`regression` has the
model). f_i is how much the item's sums have faded since it was last observed: it keeps its mean, and its certainty wears off.
"""

from ..core.kernel import kernel, solver
from ..core.lane_rows import dot_numbers, dot_rows, set_numbers, subtract_combined
from ..core.lanes import LANES, squared_norm
from ..core.linalg import Matrix, Vector, dot
from ..core.simd4 import Four, entry_of, get, load, put, spread, store
from .fading import LEAST, faded
from .regression import PRIOR, WIDTH, mean_reward
from .sums import NEVER, NEWEST, R0, UNNAMED, State, Work, voice


@kernel
def forecast(state: State, g: int, i: int, width: bool, work: Work) -> tuple[Four, Four]:
    """Expected reward of (φ, ψ) in `work` for item i, −1 if it was never seen, in the memories of group g.

    Also its variance in units of σ²; without `width` only ψᵀR_iψ, and d stays in `work`.
    """
    # Estimates are stored for rewards y = r − r₀ and for the constant 1; the forecast shrinks towards r̄, so θ = θ₀ − r̄θ₁ is formed
    # here.
    away = mean_reward(state)
    mean, q = spread(state.numbers[R0] + away), spread(0.0)
    set_numbers(work.d, work.phi)
    # Three cases: rows without names have no own effect; a named item has the posterior of its effect if it was observed, and the prior
    # if not.
    if work.psi.shape[0] > 0 and i > UNNAMED:
        if i >= 0 and state.last[max(i, 0)] > NEVER:
            q = _own_direction(state.own_R[i, g], work.psi, work.x)
            mean = mean + own_part(state.own_S[i, g], state.own_t[i, g], away, work.x, work.d)
            if width and state.last[i] < state.numbers[NEWEST]:
                q = _worn(state, g, i, q, work)
        else:
            q = _prior_widths(state, g, work)
    theta = state.theta[g]
    mean = mean + dot_rows(work.d, theta[0], 0) - away * dot_rows(work.d, theta[1], 0)
    if width:
        q = q + squared_norm(state.U[g], work.d)
    return mean, q


@solver
def _own_direction(R: Matrix, psi: Vector, x: Matrix) -> Four:
    """x = R_iψ; returns ψᵀR_iψ."""
    for a in range(psi.shape[0]):
        put(x, a, dot_numbers(R[a], psi))
    return dot_numbers(x, psi)


@solver
def own_part(S: Matrix, t: Matrix, away: float, x: Matrix, d: Matrix) -> Four:
    """d ← d − S_iᵀx; returns xᵀ(t_i − r̄S_i0), what an item's own effect adds to dᵀθ̂."""
    total = dot_rows(x, t, 0)
    for a in range(x.shape[0]):
        total = total - away * (get(x, a) * entry_of(S, a, 0))
    subtract_combined(d, x, S)
    return total


@kernel
def measure_prior(state: State, work: Work) -> None:
    """ψᵀK⁻¹ψ of both voices, for the ψ in `work`."""
    psi = work.psi
    for v in range(2):
        total = 0.0
        for a in range(psi.shape[0]):
            total += psi[a] * dot(state.Kinv[v, a], psi)
        work.prior[v] = total


@kernel
def _prior_widths(state: State, g: int, work: Work) -> Four:
    """ψᵀK⁻¹ψ in the lanes of a group."""
    prior = work.few[PRIOR]
    for lane in range(LANES):
        prior[lane] = work.prior[voice(state, g * LANES + lane)]
    return load(prior, 0)


@kernel
def _worn(state: State, g: int, i: int, q: Four, work: Work) -> Four:
    """`worn` in the lanes of a group."""
    width = work.few[WIDTH]
    store(width, 0, q)
    for lane in range(LANES):
        width[lane] = worn(state, min(g * LANES + lane, state.rate.shape[0] - 1), i, width[lane], work)
    return load(width, 0)


@kernel
def worn(state: State, m: int, i: int, q: float, work: Work) -> float:
    """min(ψᵀR_iψ/f_i, ψᵀK⁻¹ψ): an item that is not observed is known less and less."""
    if i < 0 or work.psi.shape[0] == 0 or state.last[i] <= NEVER:
        return q
    wear = faded(state, m, state.last[i], state.numbers[NEWEST])
    # Dividing by f_i widens the posterior as the item's sums fade; it never gets wider than the prior.
    return min(q / max(wear, LEAST), float(work.prior[voice(state, m)])) if wear < 1.0 else q
