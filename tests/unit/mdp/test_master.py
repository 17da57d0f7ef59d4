"""MASTER over episodes: schedule and tests as for bandits, only the active instance learns, one stage is a bandit."""

import naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.protocol import Task, experience, open_book, plan


def lived(strategy, S, A, H, episodes, pay, seed=0):
    """After so many episodes in which action a of state s pays pay(k, s, a) and leads to a random state: state, g̃, R and active orders."""
    rng, world = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    task = Task(
        states=S, actions=A, phi=None, moves=None, multinomial=False, successors=S, horizon=H, episodes=episodes
    )
    state, g, R, active = open_book(strategy, task), [], [], []
    for k in range(episodes):
        plan(strategy, state, rng)
        active.append(int(state.plan.clock.active[0]))
        s, total = 0, 0.0
        g.append(min(max(float(state.book.V[0, 0]) / H, 0.0), 1.0))
        for h in range(H):
            a, after = int(state.book.policy[h, s]), int(world.integers(S))
            r = pay(k, s, a)
            experience(strategy, state, h, s * A + a, r, after)
            total += r
            s = after
        R.append(total / H)
    return state, np.array(g), np.array(R), active


@pytest.mark.interpreted
def test_the_schedule_is_procedure_1():
    """Blocks of 1, 2, 4, …; an instance of order m starts where 2^m divides the place in its block; the shortest that lives is active."""
    strategy = db.zoo.master_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.3), episodes=60)
    state, _, _, active = lived(strategy, 2, 2, 2, 60, lambda k, s, a: float(a))
    info = db.mdp.protocol.report(strategy, state)
    assert info["blocks"].tolist() == [[1, 0], [2, 1], [4, 2], [8, 3], [16, 4], [32, 5]]
    assert not len(info["restarts"])
    for first, n in info["blocks"]:
        own = [
            (m, start - first + 1, start - first + 2**m)
            for start, m in info["instances"]
            if first <= start < first + 2**n
        ]
        assert (n, 1, 2**n) in own
        assert all((start - 1) % 2**m == 0 for m, start, _ in own)
        for tau in range(1, min(2**n, 60 - first + 1) + 1):
            assert active[first + tau - 2] == naive.master_active(own, tau)[0]


@pytest.mark.interpreted
def test_only_the_active_instance_learns():
    strategy = db.zoo.master_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.3), episodes=16, first_order=4)
    state, _, _, active = lived(strategy, 2, 2, 2, 16, lambda k, s, a: 0.5)
    last = {int(m): int(start) for start, m in db.mdp.protocol.report(strategy, state)["instances"]}
    learned = {m: sum(order == m for order in active[start - 1 :]) for m, start in last.items()}
    for m, episodes in learned.items():
        assert episodes == 0 or state.instances.seen[m, 0] == 2 * episodes  # of H = 2 stages
    assert sum(episodes > 0 for episodes in learned.values()) > 1


@pytest.mark.interpreted
def test_a_failed_test_restarts_at_the_first_order():
    """Everything pays 1, then nothing does: g̃ − R grows, and with a small scale test 2 fails in the episode that its definition says."""
    scale = 0.001
    strategy = db.zoo.master_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=1.0), episodes=64, first_order=6, test_scale=scale)
    state, g, R, _ = lived(strategy, 1, 2, 1, 64, lambda k, s, a: 1.0 if k < 20 else 0.0)
    restarts = db.mdp.protocol.report(strategy, state)["restarts"]
    assert len(restarts)
    when, test = restarts[0]
    rate = scale * 6 * (np.log2(64) + 1) * np.log(64 / (1 / 64))
    means = np.cumsum(g - R) / np.arange(1, 65)
    fails = np.flatnonzero(means >= 3 * rate / np.sqrt(np.arange(1, 65)))
    assert test == 2
    assert fails[0] + 1 == when
    assert when > 20


@pytest.mark.interpreted
def test_with_the_published_constants_no_test_fires():
    strategy = db.zoo.master_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1), episodes=64)
    state, *_ = lived(strategy, 1, 2, 1, 64, lambda k, s, a: float(a) if k < 20 else 0.0)
    assert not len(db.mdp.protocol.report(strategy, state)["restarts"])


@pytest.mark.interpreted
def test_one_stage_is_master_over_the_bandit():
    """H = 1, one state: the schedule of `meta.master`'s own functions, fed with the same draws and the same g̃ and R, is the same."""
    from driftbandits.meta.schedule import blank_schedule, count_round, draw_instances

    K, scale = 50, 0.02
    strategy = db.zoo.master_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.05), episodes=K, test_scale=scale)
    state, g, R, active = lived(strategy, 1, 3, 1, K, lambda k, s, a: 0.3 * a if k < 25 else 0.1, seed=4)
    rate = scale * 6 * (np.log2(K) + 1) * np.log(K * K)
    own = blank_schedule(K.bit_length(), rate, 0)
    # the planner draws only where actions tie, as in a fresh instance: replay the instances that were started instead of the draws
    begun = {(int(a), int(b)) for a, b in db.mdp.protocol.report(strategy, state)["instances"]}

    class Replayed:
        def random(self):
            m = self.m
            self.m += 1
            return 0.0 if (int(own.clock.round[0]) + 1, m) in begun else 1.0

    for k in range(K):
        rng = Replayed()
        rng.m = 0
        assert draw_instances(own, rng) == active[k]
        own.clock.pending[0] = 1
        count_round(own, R[k], g[k], 0)
    for mine, theirs in zip(own.journal, state.plan.journal, strict=True):
        np.testing.assert_array_equal(mine.rows, theirs.rows)


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="number of episodes"):
        db.zoo.master_ucrl(db.zoo.ucrl_vtr(), episodes=0)
