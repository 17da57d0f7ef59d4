r"""What has been learned, in new coordinates: φ′ = Tφ, V ← TVTᵀ, b ← Tb (see `coordinates`), in one compiled call.

Column (i,c) is z_i z_c, and z′ = αz + β·present, so that each row of T has at most four entries:

    φ′_(i,c) = α_i α_c φ_(i,c) + β_i α_c φ_(ī,c) + α_i β_c φ_(i,c̄) + β_i β_c φ_(ī,c̄) ,

where ī is the slot that says whether number i is there (the constant, if it always is).
"""

from typing import NamedTuple

import numpy as np

from ..core.kernel import entry, kernel, solver, sqrt
from ..core.linalg import Matrix, Vector
from .bank import renew
from .coordinates import Integers, Scale, propose, second
from .sums import DIRECT, LAM, NEVER, PRIOR, Bank, Shape, Work

LAM_MOVED = 0.05  # λ is moved when it is off by this share


class Route(NamedTuple):
    """T, and room for the coordinates it leads to."""

    source: Integers  # (p, 4)  columns
    weight: Matrix  # (p, 4)  their weights
    item: Matrix  # (4, I)  μ, 1/s, α, β
    context: Matrix  # (4, C)


def new_route(source: Integers, I: int, C: int) -> Route:  # noqa: E741
    """The way to new coordinates of I item slots and C context slots."""
    return Route(source, np.zeros(source.shape), np.zeros((4, I)), np.zeros((4, C)))


@entry(brief=True)
def move(bank: Bank, shape: Shape, items: Scale, context: Scale, route: Route, work: Work) -> bool:
    """Move to the coordinates that the statistics suggest; False if these are near enough the old ones, and nothing was done."""
    a = propose(items, route.item)
    b = propose(context, route.context)
    lam = strength(shape, items, context)
    if not (a or b) and abs(lam / bank.misc[LAM] - 1.0) < LAM_MOVED:
        return False
    alpha, beta = route.item[2], route.item[3]
    alpha_c, beta_c = route.context[2], route.context[3]
    for r in range(route.source.shape[0]):
        i, c = shape.item[r], shape.context[r]
        route.weight[r, 0] = alpha[i] * alpha_c[c]
        route.weight[r, 1] = beta[i] * alpha_c[c]
        route.weight[r, 2] = alpha[i] * beta_c[c]
        route.weight[r, 3] = beta[i] * beta_c[c]
    _adopt(items, route.item)
    _adopt(context, route.context)
    for k in range(bank.last.shape[0]):
        if bank.last[k] > NEVER:
            for j in range(bank.rate.shape[0]):
                _carry(bank.V[j, k], bank.b[j, k], route, work)
    renew_blocks(bank, shape, items, context, work)
    return True


@kernel
def _adopt(scale: Scale, new: Matrix) -> None:
    for j in range(scale.mu.shape[0]):
        scale.mu[j] = new[0, j]
        scale.inv[j] = new[1, j]


@solver
def _carry(V: Matrix, b: Vector, route: Route, work: Work) -> None:
    """V ← TVTᵀ and b ← Tb."""
    p = b.shape[0]
    for r in range(p):
        row, total = work.W[r], 0.0
        for l in range(p):  # noqa: E741
            row[l] = 0.0
        for s in range(4):
            w, from_ = route.weight[r, s], route.source[r, s]
            if w != 0.0:
                old = V[from_]
                total += w * b[from_]
                for l in range(p):  # noqa: E741
                    row[l] += w * old[l]
        work.u[r] = total
    for r in range(p):
        b[r] = work.u[r]
        for q in range(p):
            total = 0.0
            for s in range(4):
                total += route.weight[q, s] * work.W[r, route.source[q, s]]
            V[r, q] = total


@kernel
def strength(shape: Shape, items: Scale, context: Scale) -> float:
    """λ: a share of E‖φ‖² without the intercept, 1 for each number and its frequency for each category."""
    total = 0.0
    for r in range(1, shape.item.shape[0]):
        total += second(items, shape.item[r]) * second(context, shape.context[r])
    return PRIOR * max(1.0, total)


@solver
def renew_blocks(bank: Bank, shape: Shape, items: Scale, context: Scale, work: Work) -> None:
    """λ for the columns there are, and all estimates from their sums; above 64 columns only those of blocks that have seen nothing."""
    bank.misc[LAM] = strength(shape, items, context)
    for k in range(bank.last.shape[0]):
        for j in range(bank.rate.shape[0]):
            if bank.last[k] <= NEVER:
                know_nothing(bank, j, k)
            elif work.phi.shape[0] <= DIRECT:
                renew(bank, j, k, work)


@kernel
def know_nothing(bank: Bank, j: int, k: int) -> None:
    """UᵀU = Λ in a block that has seen nothing; a factor holds the reciprocals of its diagonal."""
    U, p = bank.U[j, k], bank.b.shape[2]
    for i in range(p):
        for l in range(p):  # noqa: E741
            U[i, l] = 0.0
        U[i, i] = 1.0 if i == 0 else 1.0 / sqrt(bank.misc[LAM])


@entry(brief=True)
def renew_all(bank: Bank, shape: Shape, items: Scale, context: Scale, work: Work) -> None:
    """`renew_blocks`, for Python."""
    renew_blocks(bank, shape, items, context, work)
