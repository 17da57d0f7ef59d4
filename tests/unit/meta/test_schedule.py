"""MASTER's schedule without a learner: who lives when, and what ends a block. `test_master` has it against the oracle."""

import numpy as np
import pytest

from driftbandits.meta.schedule import LOG, Entries, blank_schedule, count_round, draw_instances, oldest_first

pytestmark = pytest.mark.interpreted  # leaves, which Python cannot call when they are compiled


def played(plan, rounds, reward=0.5, g=0.5, seed=0):
    """The order of the active instance in each round."""
    rng, active = np.random.default_rng(seed), []
    for _ in range(rounds):
        active.append(draw_instances(plan, rng))
        count_round(plan, reward, g, 0)
    return active


def test_blocks_double_and_the_shortest_instance_is_active():
    plan = blank_schedule(6, 1e3, 0)
    for t in range(31):
        shortest = played(plan, 1, seed=t)[0]
        if plan.clock.tau[0]:  # not at the end of a block
            assert plan.alive[shortest] == 1
            assert not plan.alive[:shortest].any()
    journal = plan.journal
    assert oldest_first(journal.blocks).tolist() == [[2**n, n] for n in range(5)]


def test_a_gap_above_the_threshold_restarts_with_the_first_order():
    plan = blank_schedule(6, 0.1, 0)  # test 2: Σ(g̃ − R) ≥ 3·0.1·√τ
    played(plan, 7, reward=0.0, g=0.25)
    journal = plan.journal
    restarts = oldest_first(journal.restarts).tolist()
    # blocks of 1, 2 and 4 rounds: the sums 0.25τ reach 0.3√τ after two rounds
    assert restarts == [[3, 2], [6, 2]]
    assert plan.clock.order[0] == 1
    assert plan.clock.tau[0] == 0


def test_the_journal_keeps_the_last_entries_in_order():
    rows = np.arange(2 * LOG).reshape(LOG, 2)
    assert oldest_first(Entries(rows, np.array([3]))).tolist() == rows[:3].tolist()
    np.testing.assert_array_equal(oldest_first(Entries(rows, np.array([LOG + 2])))[:2], rows[2:4])
