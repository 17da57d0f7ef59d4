"""Linear MDPs, in which rewards and transitions are linear in features of the pair (s, a)."""

from numpy.typing import ArrayLike

from ..core.frozen_array import Frozen
from ..mdp.linear_mdp import WeightedLSVI
from .options import discount
from .record import algorithm, algorithms_of


@algorithm(
    family="mdp",
    remembers="γ^age, in episodes, two matrices a stage",
    plays="φᵀw_h + β‖φ‖_{Σ⁻¹Σ̃Σ⁻¹}, w_h regressed on r + V_{h+1} of this plan",
    regret="d^{5/4} H² Δ^{1/4} K^{3/4}, β of its theorem",
    papers=("touati2020efficient", "jin2020provably"),
    example={"gamma": 0.9, "beta": 0.3},
    world="linear mixture",
)
def opt_wlsvi(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    beta: float,
    lam: float = 1.0,
    features: ArrayLike | None = None,
) -> WeightedLSVI:
    """OPT-WLSVI: weighted least-squares value iteration for linear MDPs (Touati, Vincent 2020).

        Σ_h = λI + Σ_j γ^{k−1−j}φ_jφ_jᵀ,   Σ̃_h with γ^{2(k−1−j)},   w_h = Σ_h⁻¹ Σ_j γ^{k−1−j}φ_j(r_j + V_{h+1}(s'_j)),
        Q_h = min{φᵀw_h + β‖φ‖_{Σ_h⁻¹Σ̃_hΣ_h⁻¹}, H}

    γ = 1 is LSVI-UCB (Jin et al. 2020); H = 1 is D-LinUCB. The theorem's β is of the order dH√log(dT/δ), which saturates Q at H at every
    practical size: β has no default.

    Parameters
    ----------
    gamma, half_life
        Discount over episodes (η in the paper), or after how many episodes one counts half.
    beta, lam
        Width of the bonus, in units of reward; the ridge.
    features
        φ (S, A, d); by default one feature for each pair, which makes any MDP a linear one.

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.mdp.riverswim(episodes=50, horizon=6, drift="static")
    >>> db.simulate_mdp(db.zoo.opt_wlsvi(gamma=0.98, beta=0.5), world, seed=0).regret.shape
    (50,)
    """
    given = Frozen("features", [] if features is None else features)
    return WeightedLSVI(eta=discount(gamma, half_life), lam=lam, beta=beta, features=given)


__all__ = algorithms_of(__name__)
