r"""Whether saved sums can be sums of observations: what a file that was changed by hand or by chance is refused by.

Every check is a fact about weighted sums, up to rounding:

    V = Σ w φφᵀ and M_i = Σ w ψψᵀ   symmetric, no eigenvalue below 0
    E = Σ f_i S_iᵀ(M_i + K)⁻¹S_i     what the own sums say it is, K as strong as it was when the item was last seen (`fading`)
    (mean − anchor)² ≤ Σ(x − mean)²  the anchor is one of the values; a category's mean is its frequency

V + Λ − E is positive definite, but rounding may take all digits of the difference; the engine leaves out pivots that are rounding
(`core.lanes.factor`), so that it is not asked for here.
"""

import numpy as np

from ..core.lanes import LANES, symmetric
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from .by_memory import Sums, of_memories, sums_of
from .columns import NUMBER, Scale
from .fading import faded, prior_weights
from .sums import NEVER, NEWEST, SHORTEST, State
from .tuning import FURTHEST

ROUNDING = 1e-6  # relative
LARGEST = 1e220  # features and rewards are below 1e100, and their squares are summed
SMALLEST = 1e-163  # a standard deviation: the square of any number below is 0


def check_sums(state: State) -> None:
    """Refuse sums that no observations have."""
    _small_enough({f"state.{name}": value for name, value in state._asdict().items()})
    M, known = len(state.rate), sums_of(state)
    kept = slice(int(state.numbers[SHORTEST]), None)  # shorter memories take no part, and their sums are not kept
    voice = np.arange(M) // max(M - 1, 1)
    prior, own = state.Lam[voice], state.Kap[voice]
    size = _diagonal(known.V) + _diagonal(prior)
    _no_negative("state.V", known.V[kept], size[kept])
    _no_negative("state.own_M", known.own_M, _diagonal(known.own_M) + _diagonal(own))
    if np.abs(state.offset).max() > FURTHEST:
        raise InvalidValue(f"state.offset is beyond {FURTHEST:g} decades, where no prior is; was the file changed?")
    E = _explained(state, known)
    if state.E.size:
        said = of_memories(symmetric(state.E), M)[kept]
        unit = np.sqrt(size[kept])  # E ≤ V: what is rounding is measured by V + Λ, column by column
        if not (np.abs(E[kept] - said) <= ROUNDING * unit[:, :, None] * unit[:, None, :]).all():
            raise InvalidValue("state.E is not what state.own_S says; was the file changed?")


def check_scale(side: str, scale: Scale) -> None:
    """Refuse statistics that no values have."""
    _small_enough({f"{side}.{name}": value for name, value in scale._asdict().items()})
    number, known = scale.kind == NUMBER, scale.seen > 0.0
    away, spread = (scale.mean - scale.anchor) ** 2, scale.M2 * (1.0 + ROUNDING)
    far = number & known & (away > spread + ROUNDING * (scale.mean**2 + scale.anchor**2))
    share = ~number & ((scale.mean < -ROUNDING) | (scale.mean > 1.0 + ROUNDING))
    loose = ~(number & known) & (scale.anchor != 0.0)
    if (
        far.any()
        or loose.any()
        or share[1:].any()
        or (scale.M2 < 0.0).any()
        or (scale.seen < 0.0).any()
        or (scale.s < SMALLEST).any()
    ):
        raise InvalidValue(f"the statistics of {side} are not those of any values; was the file changed?")


def _small_enough(arrays: dict[str, Vector]) -> None:
    for name, values in arrays.items():
        if values.size and np.abs(values).max() > LARGEST:
            raise InvalidValue(f"{name} has a number beyond {LARGEST:g}, which no sum reaches; was the file changed?")


def _diagonal(A: Matrix) -> Matrix:
    return np.abs(np.diagonal(A, axis1=-2, axis2=-1))


def _no_negative(name: str, A: Matrix, size: Matrix) -> None:
    """Refuse matrices (…, n, n) that are not symmetric or have a negative eigenvalue; columns may differ in scale.

    Rounding is that of the sums and priors which they are differences of, size (…, n): rewards that were taken back leave some of it.
    """
    if not A.size:
        return
    unit = np.where(size > 0.0, np.sqrt(size), 1.0)
    scaled = A / unit[..., :, None] / unit[..., None, :]
    symmetric = np.allclose(scaled, np.swapaxes(scaled, -1, -2), atol=ROUNDING)
    if not symmetric or np.linalg.eigvalsh(scaled).min() < -ROUNDING * A.shape[-1]:
        raise InvalidValue(f"{name} is no sum of squares; was the file changed?")


def _explained(state: State, known: Sums) -> Matrix:
    """E of every memory from the own sums."""
    E, weight = np.zeros_like(known.V), np.empty(LANES)
    for i in np.flatnonzero(state.last > NEVER) if state.E.size else ():
        for m in range(len(E)):
            f = faded(state, m, float(state.last[i]), float(state.numbers[NEWEST]))
            prior_weights(state, m // LANES, float(state.last[i]), weight)
            S, K = known.own_S[i, m], weight[m % LANES] * state.Kap[min(m // max(len(E) - 1, 1), 1)]
            A = known.own_M[i, m] + K
            unit = np.sqrt(np.diagonal(A))[:, None]  # columns may differ in scale by any power of ten
            E[m] += f * (S / unit).T @ np.linalg.solve(A / unit / unit.T, S / unit)
    return E
