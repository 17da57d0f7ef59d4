"""Self-concordant bandits that are optimistic over a confidence set of parameters, without a bonus. All arguments are keyword-only.

They are those of `zoo.self_concordant`, and:

radius_scale
    Multiplies the radius of the set; the theory is 1.
confidence_set
    "exact", the paper's C_t, which is not convex and is searched by branch and bound; or "relaxed", a convex set that contains it.
"""

import math
from typing import Literal, Unpack, cast

from ..core.parts import Memory, Rule
from ..errors import InvalidValue, integer, real, require
from ..memory import Discounted, Everything
from ..model import Unprojected
from ..radius import Piecewise
from ..rule import ParameterBased, RelaxedParameterBased
from ..strategy import Optimistic
from .generalized_linear import DISCOUNTED, EVERYTHING, JUMPS, STATIC_ONLY
from .options import ConcordantSet, Variant, concordant_bonus, discount
from .record import algorithm, algorithms_of
from .self_concordant import SMALL_SCB
from .tuning import PIECEWISE, SCB

OVER_SET = "max of μ(xᵀθ) over a confidence set"
ConfidenceSet = Literal["exact", "relaxed", "direct"]


def _over_set(
    memory: Memory,
    confidence_set: ConfidenceSet,
    scale: float,
    variant: Variant = "printed",
    **options: Unpack[ConcordantSet],
) -> Optimistic:
    """Parameter-based optimism with the radius scale·β̃."""
    base = concordant_bonus(memory, estimator="exact", variant=variant, **options)
    S, L = options["S"], options["L"]
    model, rule = base.model, cast(Rule, ParameterBased(S=S, L=L))
    if confidence_set == "relaxed":
        model, rule = model._replace(projection=Unprojected()), RelaxedParameterBased(S=S, L=L)
    elif confidence_set not in ("exact", "direct"):
        raise InvalidValue(
            f"confidence_set = {confidence_set!r} is not allowed; it must be 'exact' (once called 'direct'), the paper's C_t, "
            "or 'relaxed', a convex set that contains it"
        )
    return base._replace(model=model, radius=base.radius._replace(scale=scale), rule=rule)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=OVER_SET,
    regret=JUMPS,
    theorem="Theorem 4",
    bound="scb_pw_regret_bound",
    example=SMALL_SCB | {"gamma": 0.95, "radius_scale": 0.1},
    tuned_by=PIECEWISE,
    world="logistic",
    defaults_of=concordant_bonus,
)
def scb_pw_weight_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    radius_scale: float = 1.0,
    D: float | None = None,
    horizon: int | None = None,
    confidence_set: ConfidenceSet = "exact",
    pw_printed: bool = False,
    **options: Unpack[ConcordantSet],
) -> Optimistic:
    """SCB-PW-WeightUCB: optimism over a confidence set, for abrupt changes (Wang, Zhao, Zhou; Appendix D, Theorem 4).

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ ρ},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    The maximum over C_t, which is not convex, is found and proved by branch and bound (`rule.parameter`); `run.info["certified"]` is
    the fraction of choices proved, `run.info["gap"]` the most that another arm could be worth above one that is not: at d = 2 all
    choices are proved. `confidence_set="relaxed"` plays over a larger, convex set instead: another rule, which ties more often.

    D ≥ 1 is how many rounds the world is taken to have stood still: what lies further back, of weight γ^D, is treated as a bias. By
    default the theorem's log T/log(1/γ), for the T of the run or the given `horizon`; with D given, no horizon is needed (where one
    is, for `uniform_in_time`, it is γ^{−D}).
    """
    g = discount(gamma, half_life)
    require(0.0 < g < 1.0, "gamma", g, "in (0, 1)", "what lies D rounds back must have faded")
    if D is not None:
        require(horizon is None, "horizon", horizon, "left out when D is given", "it would only set D = log T/log(1/γ)")
        D = real("D", D)
        require(D >= 1.0, "D", D, "≥ 1", "it is a number of rounds without a change")
    elif horizon is not None:
        D = math.log(integer("horizon", horizon, least=2, why="it is T")) / -math.log(g)
    base = _over_set(Discounted(gamma=g), confidence_set, 1.0, **options)
    known = {name: getattr(base.radius, name) for name in ("lam", "c_mu", "k_mu", "S", "L", "m", "delta", "uniform")}
    return base._replace(radius=Piecewise(**known, gamma=g, scale=radius_scale, D=D or 0.0, printed=pw_printed))


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=OVER_SET,
    regret=STATIC_ONLY,
    papers=("abeille2021instance",),
    example=SMALL_SCB | {"radius_scale": 0.1},
    tuned_by=SCB,
    world="logistic",
    defaults_of=concordant_bonus,
)
def ofu_log(
    *,
    radius_scale: float = 1.0,
    confidence_set: ConfidenceSet = "exact",
    variant: Variant = "printed",
    **options: Unpack[ConcordantSet],
) -> Optimistic:
    """OFULog: optimism over a confidence set in a world that stands still (Abeille, Faury, Calauzènes 2021); relaxed, OFULog-r.

        C_t = {‖θ‖ ≤ S, ‖g_t(θ) − g_t(θ̂_t)‖_{H_t⁻¹(θ)} ≤ β̃_{t−1}},   play argmax_x max_{θ∈C_t} μ(xᵀθ)

    λ is fixed, as in the paper's experiment, where the authors let it grow with t; the radius is that of LogUCB1.
    """
    require(radius_scale >= 0.0, "radius_scale", radius_scale, "≥ 0", "it multiplies the radius; theory is 1")
    return _over_set(Everything(), confidence_set, radius_scale, variant, **options)


__all__ = algorithms_of(__name__)
