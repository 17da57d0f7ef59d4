"""What the learner keeps: weighted sums and the estimates made from them, for M memories, K blocks and p columns."""

import math
from typing import NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from .coordinates import Integers

MEMORIES = (8.0, 32.0, 128.0, 512.0, 2048.0, math.inf)  # in decisions
# There may be many bandits, and an array of its own for each number would take 1 kB more of each: places have names instead.
R0, KNOWN, COUNT, SUM, SQUARES, NEWEST, NORMAL, CAL_N, CAL_1, CAL_2, LAM, USE = range(12)  # in `misc`
# In `event`: observations of the memory that was refuted and of the better one, and the nats between them.
BEFORE, AFTER, EVIDENCE = range(3)
NEVER = -1e18  # before all time: finite, so that differences are
PRIOR = 0.3  # λ = 0.3·E‖φ‖²
DIRECT = 64  # up to so many columns estimates are renewed with every reward


class Bank(NamedTuple):
    """Sums and estimates: M memories, K blocks, p columns."""

    rate: Vector  # (M,)  of forgetting, per decision or second
    cut: Vector  # (M,)  since when it forgets at that rate, …
    cut_rate: Vector  # (M,)  … and the rate before
    weight: Vector  # (M,)  log evidence
    V: Matrix  # (M, K, p, p)
    b: Matrix  # (M, K, p)
    sums: Matrix  # (M, K, 2)  Σw, Σwy²
    last: Matrix  # (K,)  τ of the newest observation
    U: Matrix  # (M, K, p, p)  V + Λ = UᵀU, as in `linalg`
    theta: Matrix  # (M, K, 2, p)  (V+Λ)⁻¹ b and (V+Λ)⁻¹ V_{·0}
    rest: Matrix  # (M, K, 3)  the sum of squares left, as a quadratic in r̄
    misc: Vector  # (12,)
    event: Vector  # (3,)  the last refutation


class Work(NamedTuple):
    """Room to compute in."""

    zi: Vector
    zc: Vector
    phi: Vector
    u: Vector
    v: Vector
    W: Matrix


class Shape(NamedTuple):
    """What kind of model: pooled, with a block per item, or both; and the columns."""

    shared: Vector  # (1,)  1: block 0 is in use
    single: Vector  # (1,)  1: every item has a block
    item: Integers  # (p,)
    context: Integers  # (p,)


def new_bank(rates: Vector, blocks: int, p: int) -> Bank:
    """A bank that knows nothing."""
    M = len(rates)
    bank = Bank(
        rate=np.array(rates, np.float64),
        cut=np.full(M, NEVER),
        cut_rate=np.zeros(M),
        weight=np.zeros(M),
        V=np.zeros((M, blocks, p, p)),
        b=np.zeros((M, blocks, p)),
        sums=np.zeros((M, blocks, 2)),
        last=np.full(blocks, NEVER),
        U=np.zeros((M, blocks, p, p)),
        theta=np.zeros((M, blocks, 2, p)),
        rest=np.zeros((M, blocks, 3)),
        misc=np.zeros(12),
        event=np.zeros(3),
    )
    bank.misc[NEWEST] = NEVER
    bank.misc[NORMAL] = -10.0
    bank.misc[LAM] = 1.0
    bank.misc[USE] = M - 1
    return bank


def new_work(I: int, C: int, p: int) -> Work:  # noqa: E741
    """Room for I item slots, C context slots and p columns."""
    return Work(np.zeros(I), np.zeros(C), np.zeros(p), np.zeros(p), np.zeros(p), np.zeros((p, p)))
