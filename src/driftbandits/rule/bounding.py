r"""Branch and bound over the confidence set C: a proof that no point of C gives any arm more than the best value found.

A cell is a box with half-widths h and radius r = ‖h‖; bounds are expansions about its centre c (moved into the ball). With |μ″| ≤ μ′ and
D = H(c) − λc_μI, every θ of C in the cell satisfies

    ‖u(c) + H(c)(θ−c)‖_{M⁻¹} ≤ ρ + ((e^{Lr}−1)/(Lr) − 1)·r·√‖D‖ =: ρ′,    M = λc_μI + e^{Lr}D  ⪰  H(θ)

that is, it lies in an ellipsoid about the Newton point c − H⁻¹u. The cell shrinks to the bounding box of the ellipsoid, and there an arm
has at most the value

    xᵀ(c − H⁻¹u) + ρ′·√(e^{Lr}·xᵀH⁻¹x − (e^{Lr}−1)λc_μ‖H⁻¹x‖²)                                       tight while C is small

With |μ‴| ≤ μ′ and k = L‖H⁻¹u‖, θ also satisfies two linear inequalities, exact to second order in r,

    ∇P(c)ᵀ(θ−c) ≤ ρ² − P(c) + κ(2k+k²)‖D‖r² =: s,   κ = (e^{Lr}−1−Lr)/(Lr)²      from P(θ) = max_v 2u(θ)ᵀv − vᵀH(θ)v at v = H⁻¹u
    nᵀθ ≤ S,   n = c/‖c‖

so that with x = τ∇P + σn + e, τ, σ ≥ 0 and e as small as possible, xᵀθ ≤ τ(s + ∇Pᵀc) + σS + max_{box} eᵀθ. Cells that cannot beat the best
value found are dropped; the others are cut in two.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import divide_by
from ..core.kernel import kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, dot, norm
from ..core.ties import tie_level
from ..sums.likelihood import Atoms
from .confidence import DEPTH, NOT_CLIMBED, ParameterWork, climb, inverse_diagonal, slope_at, take
from .relaxed import GAP, copy

CELLS = 3000  # the largest number of cells visited per decision; a third of it in more than two dimensions
COARSE = 0.05  # L·r above which a cell is cut before the ascent is run for its arms
FAR = 30.0  # L·r above which the bounds of a cell are useless


class Search(NamedTuple):
    """The arguments of a search: maximise the value of the arms first..last−1 over C."""

    rule: Any
    model: Any
    sums: Atoms
    est: Any
    work: ParameterWork
    arms: Matrix
    score: Vector
    first: int
    last: int


@solver
def search(
    rule: Any,
    model: Any,
    sums: Atoms,
    est: Any,
    work: ParameterWork,
    arms: Matrix,
    score: Vector,
    first: int,
    last: int,
    spare: bool,
) -> None:
    """Search all of C for a larger value of the arms first..last−1: updates found.best, and sets found.bound to what remains possible.

    The best arm can be known without its exact value. If `spare`, cells in which only the leading arm could gain are dropped unexplored;
    if another arm takes the lead, the search starts again.
    """
    of = Search(rule, model, sums, est, work, arms, score, first, last)
    d = work.x.shape[0]
    leader = leader_of(score, first, last) if spare else -1
    copy(work.centre[0], work.root[0])
    copy(work.half[0], work.root[1])
    waiting = 1
    work.most[0] = np.inf
    open_cells = -np.inf
    for _ in range(CELLS if d <= 2 else CELLS // 3):
        if waiting == 0:
            break
        waiting -= 1
        r = visit(of, leader, waiting)
        # Cells were dropped on behalf of the old leader: a new leader restarts the search from the root cell.
        if spare and leader != leader_of(score, first, last):
            leader = leader_of(score, first, last)
            copy(work.root[0], work.centre[0])
            copy(work.root[1], work.half[0])
            work.most[0] = np.inf
            waiting, open_cells = 1, -np.inf
        # The stack is full, or the cell too small to cut: it stays open, and its bound limits the certificate.
        elif r > 0.0 and (waiting + 2 > DEPTH or r <= 1e-13 * rule.S):
            open_cells = max(open_cells, work.most[waiting])
        elif r > 0.0:
            cut(work, waiting, d)
            waiting += 2
    for k in range(waiting):
        open_cells = max(open_cells, work.most[k])
    work.found.bound[0] = max(work.found.best[0], open_cells)


@kernel
def leader_of(score: Vector, first: int, last: int) -> int:
    """The arm of largest value found, or −1."""
    leader = -1
    for a in range(first, last):
        if score[a] > (score[leader] if leader >= 0 else NOT_CLIMBED):
            leader = a
    return leader


@kernel
def cut(work: ParameterWork, at: int, d: int) -> None:
    """Cut cell `at` in two along its widest side."""
    widest = 0
    for i in range(d):
        if work.half[at, i] > work.half[at, widest]:
            widest = i
    for i in range(d):
        work.centre[at + 1, i] = work.centre[at, i]
        work.half[at + 1, i] = work.half[at, i]
    part = 0.5 * work.half[at, widest]
    work.half[at, widest] = part
    work.half[at + 1, widest] = part
    work.centre[at, widest] -= part
    work.centre[at + 1, widest] += part
    work.most[at + 1] = work.most[at]


@solver
def visit(of: Search, leader: int, at: int) -> float:
    """Bound cell `at`, shrink it, run the ascent from it; returns its radius, or 0 if the cell can be dropped."""
    rule, model, work = of.rule, of.model, of.work
    if not may_win(of, leader, at):
        return 0.0
    r = settle_spot(rule, work, at)
    P = slope_at(model, of.sums, of.est, work, work.spot)
    inside = work.rho[0] * work.rho[0] >= P
    if inside and improve(of):
        P = slope_at(model, of.sums, of.est, work, work.spot)  # the ascent has overwritten it
    reach = rule.L * r
    if reach > FAR:
        return r
    growth = np.exp(reach)
    small = reach < 1e-4  # where the formulas cancel
    bend = 0.5 * reach * (1.0 + reach) if small else (growth - 1.0) / reach - 1.0
    curve = 0.5 * (1.0 + reach) if small else (growth - 1.0 - reach) / (reach * reach)
    data = size_of_data(of.est.newton.H, model.lam * model.c_mu)
    rho = work.rho[0] * (1.0 + 1e-12) + bend * r * sqrt(data)
    if not shrink(work, at, rho, growth):
        return 0.0
    k = rule.L * norm(work.shift)
    slack = work.rho[0] * work.rho[0] * (1.0 + 1e-12) - P + curve * (2.0 * k + k * k) * data * r * r
    if least_slope(work, at) > slack:
        return 0.0
    return bound_arms(of, leader, at, rho, growth, slack)


@kernel
def hopeless(work: ParameterWork, score: Vector, leader: int, a: int, bound: float) -> bool:
    """Whether arm a, with value at most `bound` in this cell, cannot win. An arm without a value yet must be worse than a tie."""
    if work.found.known[0] == 0.0:
        return False
    if a == leader:
        return True
    return bound < tie_level(work.found.best[0]) if score[a] == NOT_CLIMBED else bound <= work.found.best[0] + 0.5 * GAP


@kernel
def may_win(of: Search, leader: int, at: int) -> bool:
    """Whether the cell intersects the ball and some arm's largest value over its box could still win."""
    work, least = of.work, 0.0
    for i in range(of.arms.shape[0]):
        least += max(abs(work.centre[at, i]) - work.half[at, i], 0.0) ** 2
    if least > of.rule.S * of.rule.S:
        return False
    matter = 0
    for a in range(of.first, of.last):
        matter += not hopeless(work, of.score, leader, a, in_box(work, of.arms, a, at))
    return matter > 0


@kernel
def settle_spot(rule: Any, work: ParameterWork, at: int) -> float:
    """Set spot to the centre of the cell, projected onto the ball, which brings it closer to all points there; returns the radius."""
    d = work.spot.shape[0]
    r = size = 0.0
    for i in range(d):
        work.spot[i] = work.centre[at, i]
        r += work.half[at, i] ** 2
    size = norm(work.spot)
    for i in range(d):
        work.spot[i] *= rule.S / size if size > rule.S else 1.0
    return sqrt(r)


@kernel
def size_of_data(H: Matrix, ridge: float) -> float:
    """An upper bound of ‖H − ridge·I‖: the smaller of its Frobenius and its largest row sum."""
    square = rows = 0.0
    for i in range(H.shape[0]):
        row = 0.0
        for j in range(H.shape[0]):
            entry = abs(H[i, j] - ridge) if i == j else abs(H[i, j])
            row += entry
            square += entry * entry
        rows = max(rows, row)
    return min(sqrt(square), rows)


@solver
def improve(of: Search) -> bool:
    """The spot is in C: if some arm has a larger value there than the best so far, run the ascent from there."""
    work = of.work
    best, value = -1, work.found.best[0]
    for a in range(of.first, of.last):
        take(of.arms, a, work.x)
        here = dot(work.x, work.spot)
        if here > value:
            best, value = a, here
    if work.found.known[0] == 0.0:
        work.found.known[0] = 1.0
        copy(work.spot, work.inner)
    if best < 0:
        return False
    of.score[best] = max(of.score[best], climb(of.rule, of.model, of.sums, of.est, work, of.arms, best, work.spot))
    return True


@solver
def shrink(work: ParameterWork, at: int, rho: float, growth: float) -> bool:
    """Cut the cell to the box of its ellipsoid, ‖y‖_{M⁻¹} ≤ ρ′ with M ⪯ e^{Lr}H; False if nothing is left."""
    for i in range(work.spot.shape[0]):
        middle = work.spot[i] - work.shift[i]
        reach = rho * sqrt(growth * inverse_diagonal(work, i)) * (1.0 + 1e-12)
        low = max(work.centre[at, i] - work.half[at, i], middle - reach)
        high = min(work.centre[at, i] + work.half[at, i], middle + reach)
        if low > high:
            return False
        work.centre[at, i] = 0.5 * (low + high)
        work.half[at, i] = 0.5 * (high - low)
    return True


@kernel
def least_slope(work: ParameterWork, at: int) -> float:
    """min ∇Pᵀ(θ−c) over the box of cell `at`."""
    value = 0.0
    for i in range(work.spot.shape[0]):
        value += work.gradient[i] * (work.centre[at, i] - work.spot[i]) - abs(work.gradient[i]) * work.half[at, i]
    return value


@solver
def bound_arms(of: Search, leader: int, at: int, rho: float, growth: float, slack: float) -> float:
    """Bound the values of the arms in the cell; returns the cell's radius if one of them could still win, else 0."""
    rule, work, arms, score = of.rule, of.work, of.arms, of.score
    r = 0.0
    for i in range(work.spot.shape[0]):
        r += work.half[at, i] ** 2
    r = sqrt(r)
    ridge = of.model.lam * of.model.c_mu
    most = -np.inf
    climbed = False
    for a in range(of.first, of.last):
        bound = in_box(work, arms, a, at)
        if hopeless(work, score, leader, a, bound):
            continue
        take(arms, a, work.x)
        if not climbed:  # an ascent overwrites the factor and the gradient
            divide_by(work.factor, work.x, work.q)
            width = max(growth * dot(work.x, work.q) - (growth - 1.0) * ridge * dot(work.q, work.q), 0.0)
            newton_point = dot(work.x, work.spot) - dot(work.x, work.shift)
            bound = min(bound, rule.S * norm(work.x), newton_point + rho * sqrt(width))
            bound = min(bound, by_inequalities(rule, work, at, slack))
        if hopeless(work, score, leader, a, bound):
            continue
        if score[a] == NOT_CLIMBED and work.found.known[0] > 0.0 and rule.L * r <= COARSE:
            score[a] = climb(rule, of.model, of.sums, of.est, work, arms, a, work.inner)
            climbed = True
            if hopeless(work, score, leader, a, bound):
                continue
        most = max(most, bound)
    work.most[at] = most
    return r if most > -np.inf else 0.0


@kernel
def in_box(work: ParameterWork, arms: Matrix, a: int, at: int) -> float:
    """max x_aᵀθ over the box of cell `at`."""
    value = 0.0
    for i in range(arms.shape[0]):
        value += arms[i, a] * work.centre[at, i] + abs(arms[i, a]) * work.half[at, i]
    return value


@kernel
def by_inequalities(rule: Any, work: ParameterWork, at: int, slack: float) -> float:
    """The least of τ(s + ∇Pᵀc) + σS + max_{box} (x − τ∇P − σn)ᵀθ for τ alone, σ alone and both, of least squares, for the arm in work.x."""
    size = norm(work.spot)
    gg, xg = dot(work.gradient, work.gradient), dot(work.x, work.gradient)
    tau = max(xg / gg, 0.0) if gg > 0.0 else 0.0
    value = by_weights(rule, work, at, slack, tau, 0.0, size)
    if size == 0.0:
        return value
    gn, xn = dot(work.gradient, work.spot) / size, dot(work.x, work.spot) / size
    det = gg - gn * gn
    value = min(value, by_weights(rule, work, at, slack, 0.0, max(xn, 0.0), size))
    if det > 1e-12 * gg:
        tau, sigma = (xg - gn * xn) / det, (gg * xn - gn * xg) / det
        if tau > 0.0 and sigma > 0.0:
            value = min(value, by_weights(rule, work, at, slack, tau, sigma, size))
    return float(value)


@kernel
def by_weights(rule: Any, work: ParameterWork, at: int, slack: float, tau: float, sigma: float, size: float) -> float:
    """The bound by the two inequalities with weights τ and σ; size = ‖c‖."""
    value = tau * slack + sigma * rule.S
    inward = sigma / size if size > 0.0 else 0.0
    for i in range(work.x.shape[0]):
        value += tau * work.gradient[i] * work.spot[i]
        rest = work.x[i] - tau * work.gradient[i] - inward * work.spot[i]
        value += rest * work.centre[at, i] + abs(rest) * work.half[at, i]
    return float(value)
