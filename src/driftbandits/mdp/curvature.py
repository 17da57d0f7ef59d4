r"""κ of multinomial-logit transitions, computed (resolution D6).

    κ = inf_{‖w‖≤S} min_{s,a} min_{s'≠s″ reachable} p(s'; w)p(s″; w)

log p(s') + log p(s″) is concave in w, so the infimum over the ball is attained on its sphere; and p depends on w only
through the span of the feature differences of (s, a), so the search runs on the sphere of that span: two points in one
dimension; a sweep of the angle, polished, in two (three reachable successors: exact); in more dimensions a monotone
descent from many starts. Pairs with a single successor impose nothing.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import as_numbers
from ..core.linalg import Matrix, Vector
from ..errors import positive
from ..protocol import Integers
from .protocol import Cube
from .softmax_table import Choices, check_reachable, choices
from .successors import Moves, moves_of

ANGLES = 720
STARTS = 64
DESCENTS = 1000
EXACT = 1000  # minimisations of one κ,
EFFORT = 10_000  # and successors in all of them
AT_ONCE = 1 << 22  # distances
TOO_MANY = 1 << 29  # distances in all: a minute


def kappa(psi: ArrayLike, reachable: ArrayLike, *, S_w: float, reference_only: bool = False) -> float:
    """κ over the ball of radius S_w, for psi (S, A, S, d) and reachable (S, A, S), each with H in front where the stages differ.

    `reference_only` takes pairs with the reference successor only: κ_ref ≥ κ, enough for ∇g ⪰ κΣ̄ (theory §7).

    Examples
    --------
    >>> psi = np.zeros((1, 1, 2, 1))
    >>> psi[0, 0, 1, 0] = 1.0
    >>> round(kappa(np.tile(psi, (2, 1, 1, 1)), np.ones((2, 1, 2)), S_w=1.0), 6)
    0.196612
    """
    features = as_numbers("psi", psi)
    moves = moves_of(features, check_reachable(reachable, features))
    return kappa_of(moves, positive("S_w", S_w, "it bounds ‖w‖"), reference_only)


def kappa_of(moves: Moves, S: float, reference_only: bool = False) -> float:
    """κ of checked features; 1/4 if no pair has two successors.

    Products are minimised in the order of a bound from below, until none that is left can be smaller. If that takes more than `EXACT`
    minimisations (thousands of different pairs), or pairs have so many successors that these take longer, the bound of what is left is
    returned: a smaller κ, for which everything still holds. Hundreds of successors of each of a thousand pairs are bounded one by one.
    """
    table = choices(moves, actions=1)
    if float((table.used.astype(float) ** 3).sum()) / 2.0 > TOO_MANY:
        return _product_of_least(table, S)
    smallest, effort = 0.25, 0
    for done, (bound, c, i, j) in enumerate(_products(table, S, reference_only)):
        if bound >= smallest:
            break
        effort += int(table.used[c])
        if done == EXACT or effort > EFFORT:
            return bound
        smallest = min(smallest, _smallest_product(_reduced(table.psi[c, : table.used[c]]), i, j, S))
    return smallest


def _products(table: Choices, S: float, reference_only: bool) -> Iterator[tuple[float, int, int, int]]:
    """Every class and two of its successors, with a bound from below of min p_i p_j over the ball, smallest bound first.

    log p_i + log p_j = −2 log Σ_l exp(wᵀ(ψ_l − (ψ_i+ψ_j)/2)) ≥ −2 log Σ_l exp(S‖ψ_l − (ψ_i+ψ_j)/2‖)
    """
    bounds, classes, first, second = [], [], [], []
    for count in np.unique(table.used[table.used >= 2]):
        i, j = np.tril_indices(count, -1)
        if reference_only:
            i, j = i[j == 0], j[j == 0]
        members = np.flatnonzero(table.used == count)
        for some in np.array_split(members, min(len(members), -(-len(members) * len(i) * int(count) // AT_ONCE))):
            reach = S * _distances(table.psi[some, :count], i, j)
            top = reach.max(axis=-1)
            bounds.append((-2.0 * (top + np.log(np.exp(reach - top[..., None]).sum(axis=-1)))).ravel())
            classes.append(np.repeat(some, len(i)))
            first.append(np.tile(i, len(some)))
            second.append(np.tile(j, len(some)))
    if not bounds:
        return
    columns = [np.concatenate(column) for column in (bounds, classes, first, second)]
    for k in np.argsort(columns[0], kind="stable"):
        yield float(np.exp(columns[0][k])), int(columns[1][k]), int(columns[2][k]), int(columns[3][k])


def _product_of_least(table: Choices, S: float) -> float:
    """A bound of κ from below without looking at two successors together: p_i ≥ 1/Σ_l exp(S‖ψ_l − ψ_i‖), the two least of a class."""
    least = 2.0 * np.log(0.5)
    for c in np.flatnonzero(table.used >= 2):
        every = np.arange(table.used[c])
        reach = S * _distances(table.psi[c : c + 1, : table.used[c]], every, every)[0]
        top = reach.max(axis=-1)
        logs = np.sort(-top - np.log(np.exp(reach - top[:, None]).sum(axis=-1)))
        least = min(least, float(logs[0] + logs[1]))
    return float(np.exp(least))


def _distances(psi: Cube, i: Integers, j: Integers) -> Cube:
    """‖ψ_l − (ψ_i+ψ_j)/2‖ of every class, pair (i, j) and successor l, from inner products: no array has the features as an axis."""
    psi = psi - psi.mean(axis=1, keepdims=True)  # what all successors have in common would cost digits
    gram = psi @ psi.swapaxes(1, 2)
    own = np.einsum("cuu->cu", gram)
    middle = 0.25 * (own[:, i] + own[:, j] + 2.0 * gram[:, i, j])
    square = own[:, None] - gram[:, i] - gram[:, j] + middle[:, :, None]
    distances: Cube = np.sqrt(np.maximum(square, 0.0))
    return distances


def _reduced(features: Matrix) -> Matrix:
    """The features in coordinates of their span."""
    _, sizes, basis = np.linalg.svd(features, full_matrices=False)
    rank = int((sizes > 1e-12 * max(sizes.max(), 1e-300)).sum()) if sizes.size else 0
    reduced: Matrix = features @ basis[:rank].T
    return reduced


def _smallest_product(features: Matrix, i: int, j: int, S: float) -> float:
    """min p_i p_j over the sphere of radius S."""
    pair = features[i] + features[j]

    def value(w: Vector) -> float:  # log p_i + log p_j
        logits = features @ w
        top = logits.max()
        return float(pair @ w - 2.0 * (top + np.log(np.exp(logits - top).sum())))

    d = features.shape[1]
    if d == 0:  # all successors look alike
        return 1.0 / len(features) ** 2
    if d == 1:
        return float(np.exp(min(value(np.array([S])), value(np.array([-S])))))
    if d == 2:
        return float(np.exp(_on_circle(value, S)))
    return float(np.exp(_on_sphere(features, pair, S)))


def _on_circle(value: Callable[[Vector], float], S: float) -> float:
    """The minimum over the circle: a sweep, then golden section around every low point of it."""
    from scipy.optimize import minimize_scalar  # not at the top: it would double the time of `import driftbandits`

    def at(angle: float) -> float:
        return value(S * np.array([np.cos(angle), np.sin(angle)]))

    grid = np.linspace(0.0, 2.0 * np.pi, ANGLES, endpoint=False)
    heights = np.array([at(angle) for angle in grid])
    low = np.flatnonzero((heights <= np.roll(heights, 1)) & (heights <= np.roll(heights, -1)))
    cell = 2.0 * np.pi / ANGLES
    polished = [minimize_scalar(at, bounds=(grid[k] - cell, grid[k] + cell), method="bounded").fun for k in low]
    return float(min([*polished, heights.min()]))


def _on_sphere(features: Matrix, pair: Vector, S: float) -> float:
    """The minimum over the sphere: the worst successors and random directions as starts, all descending at once.

    A concave function lies below its tangents, so w ← −S∇/‖∇‖, the minimiser of the tangent over the ball, never ascends.
    """
    random = np.random.default_rng(0).standard_normal((STARTS, features.shape[1]))
    w = np.vstack([features - 0.5 * pair, random])
    w *= S / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1e-300)
    for _ in range(DESCENTS):
        logits = w @ features.T
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        gradient = pair - 2.0 * (p / p.sum(axis=1, keepdims=True)) @ features
        new = -S * gradient / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-300)
        moved = float(np.abs(new - w).max())
        w = new
        if moved <= 1e-12 * S:
            break
    logits = w @ features.T
    top = logits.max(axis=1)
    return float((w @ pair - 2.0 * (top + np.log(np.exp(logits - top[:, None]).sum(axis=1)))).min())
