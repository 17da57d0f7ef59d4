"""The schedule of MASTER (see `master`): which instances are alive in which rounds, and the tests that end a block.

A journal keeps the last blocks, instances and restarts.
"""

from typing import NamedTuple

import numpy as np

from ..core.kernel import entry, kernel, sqrt
from ..core.linalg import Vector
from ..core.state import counters
from ..protocol import Integers

LOG = 4096  # the number of blocks, of instances and of restarts that the journal keeps


class Entries(NamedTuple):
    """The last `LOG` entries of one kind; entry i is in row i modulo `LOG`."""

    rows: Integers  # (LOG, 2)
    total: Integers  # (1,) how many there were


class Journal(NamedTuple):
    """The last blocks, instances and restarts."""

    blocks: Entries  # first round, order
    instances: Entries  # first round, order
    restarts: Entries  # round, failed test


class ScheduleClock(NamedTuple):
    """The position in the schedule, each (1,)."""

    order: Integers  # n: the block has 2^n rounds
    tau: Integers  # rounds of the block played
    active: Integers  # order of the active instance
    drawn: Integers  # 1 if the schedule of the coming round is drawn
    pending: Integers  # 1 if a choice waits for its reward
    round: Integers  # t


class BlockStatistics(NamedTuple):
    """The statistics of the block so far that the tests use, each (1,)."""

    rewards: Vector  # ΣR
    gaps: Vector  # Σ(g̃ − R)
    least: Vector  # U = min g̃
    optimistic: Vector  # g̃ of the open choice


class Schedule(NamedTuple):
    """Which instances are alive, which is active, and the statistics of the tests."""

    clock: ScheduleClock
    alive: Integers  # (K+1,) 1 where an instance of order m is alive
    begun: Integers  # (K+1,) 1 where that instance has been active
    before: Vector  # (K+1,) rewards of the block before the current slot of order m
    chance: Vector  # (K+1,) 2^{−k/2}
    sums: BlockStatistics
    rate: Vector  # (1,) ρ̂(t)·√t
    journal: Journal


def blank_schedule(largest: int, rate: float, first_order: int) -> Schedule:
    """The schedule before round 1: instances of orders up to `largest`, ρ̂(t) = rate/√t, the first block of order `first_order`."""
    plan = Schedule(
        clock=counters(ScheduleClock),
        alive=np.zeros(largest + 1, np.int64),
        begun=np.zeros(largest + 1, np.int64),
        before=np.zeros(largest + 1),
        chance=np.exp2(-0.5 * np.arange(largest + 1)),
        sums=counters(BlockStatistics, float),
        rate=np.full(1, rate),
        journal=Journal(*(Entries(np.zeros((LOG, 2), np.int64), np.zeros(1, np.int64)) for _ in Journal._fields)),
    )
    _begin(plan, first_order)
    return plan


@entry
def _begin(plan: Schedule, n: int) -> None:
    """Open the first block. Its longest instance counts as begun, because it may learn before the first decision."""
    _open(plan, n)
    plan.begun[n] = 1


@kernel
def _open(plan: Schedule, n: int) -> None:
    """Begin a block of order n; its longest instance is always alive."""
    for m in range(plan.alive.shape[0]):
        plan.alive[m] = plan.begun[m] = 0
    clock = plan.clock
    plan.alive[n] = 1
    plan.before[n] = 0.0
    clock.order[0] = clock.active[0] = n
    clock.tau[0] = clock.drawn[0] = clock.pending[0] = 0
    plan.sums.rewards[0] = plan.sums.gaps[0] = 0.0
    plan.sums.least[0] = np.inf


@kernel
def draw_instances(plan: Schedule, rng: np.random.Generator) -> int:
    """Draw the instances that start now (Procedure 1); returns the order of the shortest one alive."""
    clock, journal = plan.clock, plan.journal
    n, tau = clock.order[0], clock.tau[0]
    if tau == 0:
        _write(journal.blocks, clock.round[0] + 1, n)
        _write(journal.instances, clock.round[0] + 1, n)
    shortest = -1
    m = 0
    while m < n and tau & ((1 << m) - 1) == 0:  # slots of order m begin where 2^m divides τ
        plan.alive[m] = plan.begun[m] = 0
        # The mean over a slot is a difference of two running sums, so no instance needs a sum of its own.
        plan.before[m] = plan.sums.rewards[0]
        # One number for every slot, whether or not an instance starts: within a block the schedule does not depend on the rewards.
        if rng.random() < plan.chance[n - m]:
            plan.alive[m] = 1
            if shortest < 0:
                shortest = m
            _write(journal.instances, clock.round[0] + 1, m)
        m += 1
    if shortest < 0:
        shortest = m
        # No instance starts now: the shortest of those that began earlier goes on. Order n is always alive, so the loop ends.
        while plan.alive[shortest] == 0:
            shortest += 1
    clock.drawn[0] = 1
    return shortest


@kernel
def _write(entries: Entries, first: int, second: int) -> None:
    row = entries.total[0] % LOG
    entries.rows[row, 0] = first
    entries.rows[row, 1] = second
    entries.total[0] += 1


@kernel
def _failed_test(plan: Schedule) -> int:
    """1 or 2 if that test fails after τ rounds of the block, else 0."""
    n, tau = plan.clock.order[0], plan.clock.tau[0]
    m = 0
    while m <= n and tau & ((1 << m) - 1) == 0:  # slots of order m end where 2^m divides τ
        if plan.alive[m]:
            # τ rounds have been played and 2^m divides τ: an instance of order m that is alive ends here, so test 1 applies to its whole
            # life.
            length = float(1 << m)
            if (plan.sums.rewards[0] - plan.before[m]) / length >= plan.sums.least[0] + 9.0 * plan.rate[0] / sqrt(
                length
            ):
                return 1
        m += 1
    # mean ≥ 3ρ̂(τ) = 3·rate/√τ, multiplied by τ
    return 2 if plan.sums.gaps[0] >= 3.0 * plan.rate[0] * sqrt(float(tau)) else 0


@kernel
def count_round(plan: Schedule, reward: float, g: float, first_order: int) -> None:
    """Record a reward and its g̃, both in [0, 1], run the tests, and advance to the next round, block or restart."""
    clock, sums = plan.clock, plan.sums
    sums.rewards[0] += reward
    sums.gaps[0] += g - reward
    sums.least[0] = min(sums.least[0], g)
    clock.tau[0] += 1
    clock.round[0] += 1
    clock.drawn[0] = clock.pending[0] = 0
    test = _failed_test(plan)
    if test > 0:
        _write(plan.journal.restarts, clock.round[0], test)
    if test > 0 or clock.tau[0] == 1 << clock.order[0]:
        # After a failed test the world has changed and the schedule starts again small; otherwise blocks double.
        _open(plan, first_order if test > 0 else min(clock.order[0] + 1, plan.alive.shape[0] - 1))


def oldest_first(entries: Entries) -> Integers:
    """The entries that are kept, oldest first."""
    rows, count = entries.rows, int(entries.total[0])
    kept = rows[:count] if count <= LOG else np.roll(rows, -(count % LOG), axis=0)
    return kept.copy()
