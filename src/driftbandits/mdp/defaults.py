r"""Constants that a learner was not given, from what is known of the problem.

`practical` constants, the default, promise nothing; they are scaled so that an unknown pair looks as good as the best one can be, whatever
the units of the features, and an unknown direction adds a fraction of H:

    rewards        S_θ = 1/L_φ,  λ_θ = L_φ²,  c_r = 0.5;  tables: a tenth of a visit that paid 1,  c = 0.1
    linear         S_w = 1 (mixtures have ‖w‖₁ = 1),  λ_w = HL_ψ², pulling to the even mixture,  c_w = 0.03;
                   tables: a tenth of a visit to the best state,  c = 0.1
    multinomial    S_w = 5/L_ψ,  λ_w = d,  c_w = κ/150, which cancels the 1/κ of the radius
    both           δ = 0.05,  Q clipped at the stages left,  all stages share one estimate

Where the memory is found out (no γ, no half-life), the scale of the bonuses is found out too, `bonus="measured"`: noise of rewards and
information of transitions are measured (`posterior_reward`, `posterior_mixture`, `posterior_multinomial`), and bonuses are so many
posterior standard deviations, c = 1 of rewards and of transitions, 0.3 of multinomial ones; of a table the imagined visits are measured
(`posterior_table`), c = 0.1 and c = 1. `bonus="fixed"` takes the constants above, as any of them that is given does.

A ridge that pulls ŵ to 0 says that an action leads nowhere, and only a large bonus hides it; the shortest w whose probabilities add up to 1
is no more pessimistic than optimistic. That they add up to 1 is not learned but known (`mixture_coordinates`). The scales were chosen on
the library's own worlds (`experiments/mdp_adaptive.py`) and on seeds of their own of those of `experiments/mdp_knowledge.py`.

`theory` constants are those of Theorems 5 and 6: S_θ = √d_θ/L_φ, λ_θ = d_θ, λ_w = H²d (linear) or d (multinomial), δ = 1/(4KH), c = 1,
a model for each stage. Tables become one-hot features, with S²A parameters. Bounds of the features, L_φ, L_ψ and κ, are computed in both.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import InvalidValue, real
from ..memory import Discounted
from ..util.notebook import shown_as_boxes
from .adaptive import AdaptivePlanner, Candidates
from .compose import build, chosen, composed, largest_norm, measuring
from .curvature import kappa_of
from .linear_dynamics import value_feature_bound
from .protocol import Cube, Task, settle_in
from .successors import Moves, moves_of

Origin = Literal["practical", "theory"]
REWARD = ("lam_theta", "S_theta", "L_phi")
TRANSITION = ("lam_w", "S_w", "L_psi")
REQUIRED = {"linear": (*REWARD, *TRANSITION, "delta"), "multinomial": (*REWARD, *TRANSITION, "kappa", "delta")}
ONE_HOT = 4096  # parameters that one-hot features of a table may have


@shown_as_boxes
class Unsettled(NamedTuple):
    """A learner some of whose constants are open until the problem is known."""

    family: Literal["linear", "multinomial"]
    memory: Any  # None: it finds out how fast to forget
    origin: Origin
    given: Mapping[str, Any]


def learner(family: Literal["linear", "multinomial"], memory: Any, origin: str, given: Mapping[str, Any]) -> Any:
    """The learner, or one that is settled when the problem is known."""
    if origin not in ("practical", "theory"):
        raise InvalidValue(f"constants = {origin!r} is not allowed; it must be 'practical' or 'theory'")
    allowed = {*REQUIRED[family], *OPTIONS, *(("reference", "estimator") if family == "multinomial" else ())}
    unknown = sorted(set(given) - allowed)
    if unknown:
        names = ", ".join(sorted(allowed))
        raise InvalidValue(f"{unknown[0]} = {given[unknown[0]]!r} is not a constant of this learner; it has {names}")
    for name in NUMBERS & set(given):
        real(name, given[name])
    fixed = given.get("bonus", "fixed") == "fixed"
    if memory is not None and fixed and all(name in given for name in REQUIRED[family]):
        return build(family, memory, given)
    checked: Origin = "theory" if origin == "theory" else "practical"
    return Unsettled(family, memory, checked, dict(given))


OPTIONS = (
    "reward_bonus_scale", "transition_bonus_scale", "cap", "variant", "uniform_in_time", "reward_noise", "share_stages",
    "imagined_visits", "ridge_centre", "bonus",
)  # fmt: skip
NUMBERS = {*REWARD, *TRANSITION, "kappa", "delta", "reward_bonus_scale", "transition_bonus_scale"}
NUMBERS |= {"reward_noise", "imagined_visits"}
FIXING = (
    "lam_theta", "lam_w", "S_w", "L_psi", "kappa", "delta", "ridge_centre", "uniform_in_time", "variant", "estimator",
)  # fmt: skip


@settle_in.register(Unsettled)
def _(strategy: Unsettled, task: Task) -> tuple[Any, Task]:
    if (strategy.family == "multinomial") != task.multinomial:
        if task.multinomial:
            raise InvalidValue(
                "this learner is for a linear mixture or a table and was given a multinomial-logit one (logit, or reachable is set): "
                "use mnl_weight_ucrl or its relatives"
            )
        has = "a table" if task.moves is None else "a linear mixture"
        raise InvalidValue(
            f"this learner is for a multinomial-logit problem and was given {has}: use weight_ucrl or its relatives, "
            "or say which states can follow, by mdp.logit or reachable"
        )
    table = task.moves is None
    if strategy.origin == "theory":
        task = _one_hot(task)
    measured = is_measured(strategy)
    constants = _priors(task) if measured else _defaults(strategy, task)
    if table:  # every pair has a distribution of its own, of norm at most 1
        constants["S_w"] = float(task.states * task.actions) ** 0.5
    constants |= strategy.given
    memory = Discounted(gamma=1.0) if strategy.memory is None else strategy.memory
    base = (measuring if measured else composed)(strategy.family, task, memory, constants)
    if strategy.memory is not None:
        return base, task
    # In a table the pairs that are not visited lose their weight one by one; weights that all pairs share are kept by any plan.
    probe = measured and not table and not task.multinomial
    return AdaptivePlanner(base=base, candidates=Candidates(probe=float(probe))), task


def is_measured(strategy: Unsettled) -> bool:
    """Is the scale of the bonuses measured? It is where the memory is found out, unless something is given that fixes it."""
    fixing = [name for name in FIXING if name in strategy.given]
    by_default = strategy.memory is None and strategy.origin == "practical" and not fixing
    asked = strategy.given.get("bonus", "measured" if by_default else "fixed")
    measured = bool(chosen("bonus", asked, {"fixed": 0, "measured": 1}))
    if measured and (fixing or strategy.origin == "theory"):
        given = f"{fixing[0]} = {strategy.given[fixing[0]]!r}" if fixing else "constants = 'theory'"
        raise InvalidValue(f"{given} belongs to bonus='fixed'; leave out one of them")
    return measured


def _priors(task: Task) -> dict[str, Any]:
    """What models that measure their bonus must be told."""
    found: dict[str, Any] = {"cap": "stage", "share_stages": True}
    if task.phi is not None:
        L = largest_norm("phi", task.phi)
        found |= {"L_phi": L, "S_theta": 1.0 / L}
    return found


def _defaults(strategy: Unsettled, task: Task) -> dict[str, Any]:
    theory = strategy.origin == "theory"
    found: dict[str, Any] = {} if theory else {"cap": "stage", "share_stages": True, "delta": 0.05}
    if theory and "delta" not in strategy.given:
        if task.episodes == 0:
            raise InvalidValue(
                "constants='theory' needs the number of episodes for δ = 1/(4KH); give it: EpisodicAgent(…, episodes=1000)"
            )
        found["delta"] = 1.0 / (4.0 * task.episodes * task.horizon)
    if task.phi is not None:
        found |= _of_rewards(task.phi, theory)
    if task.moves is not None:
        found |= _of_transitions(strategy, task, task.moves, theory)
    return found


def _of_rewards(phi: Cube, theory: bool) -> dict[str, Any]:
    L, d = largest_norm("phi", phi), phi.shape[-1]
    bounds = {"L_phi": L, "S_theta": (d**0.5 if theory else 1.0) / L, "lam_theta": float(d) if theory else L**2}
    return bounds | {"reward_bonus_scale": 1.0 if theory else 0.5}


def _of_transitions(strategy: Unsettled, task: Task, moves: Moves, theory: bool) -> dict[str, Any]:
    d, H = moves.psi.shape[-1], task.horizon
    longest = largest_norm("psi", moves.psi)  # 0 where a place is not in use
    if not task.multinomial:
        L = value_feature_bound(moves)
        if theory:
            return {"L_psi": L, "S_w": 1.0, "lam_w": float(H * H * d), "transition_bonus_scale": 1.0}
        gentle = {"transition_bonus_scale": 0.03, "ridge_centre": "even"}
        return {"L_psi": L, "S_w": 1.0, "lam_w": H * L**2, **gentle}
    S = float(strategy.given.get("S_w", 5.0 / longest))
    kappa = float(strategy.given.get("kappa", kappa_of(moves, S)))
    scale = 1.0 if theory else kappa / 150.0
    return {"L_psi": longest, "S_w": S, "lam_w": float(d), "kappa": kappa, "transition_bonus_scale": scale}


def _one_hot(task: Task) -> Task:
    """The theorems' view of a table: one parameter for each reward and each probability."""
    S, A = task.states, task.actions
    if task.moves is None and S * A * S > ONE_HOT:
        raise InvalidValue(
            f"constants='theory' makes S²A = {S * A * S} parameters of a table; at most {ONE_HOT}: leave it out, or give features"
        )
    phi = np.eye(S * A).reshape(S, A, -1) if task.phi is None else task.phi
    moves = moves_of(np.eye(S * A * S).reshape(S, A, S, -1)) if task.moves is None else task.moves
    return task._replace(phi=phi, moves=moves)
