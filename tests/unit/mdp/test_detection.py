"""Detection for MDPs: the test against its oracle, no alarm in a world that stands still, one restart per jump."""

import numpy as np
import pytest
from conftest import INTERPRETED
from naive.detection import first_alarm, first_reward_alarm

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.mdp.detection import PLACES, bernoulli_ratio, choices_log, visit_refutes
from driftbandits.mdp.protocol import open_book, settled


def visits_of(states=3):
    world = db.mdp.random_linear_mixture(states=states, actions=1, episodes=4, horizon=2)
    strategy, task = settled(db.zoo.detect_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1)), world.task._replace(moves=None))
    return open_book(strategy, task).visits


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(4))
def test_alarms_are_those_of_the_equations(seed):
    """As long as every earlier visit is tried, the first alarm is the oracle's."""
    rng = np.random.default_rng(seed)
    laws = rng.dirichlet(np.ones(3), 2)
    outcomes = np.concatenate([rng.choice(3, 50, p=law) for law in laws])
    rewards = np.concatenate([np.clip(rng.normal(m, 0.15, 50), 0, 1) for m in (0.2, 0.2 + 0.2 * seed)])
    wanted = [n for n in (first_alarm(outcomes, 3, 0.1), first_reward_alarm(rewards, 0.1)) if n is not None]
    v = visits_of()
    alarms = [visit_refutes(v, 0, r, int(s), 0.1) for r, s in zip(rewards, outcomes, strict=True)]
    assert len(alarms) < PLACES
    assert (alarms.index(True) + 1 if any(alarms) else None) == (min(wanted) if wanted else None)


@pytest.mark.interpreted
def test_some_of_these_have_an_alarm_and_thinning_keeps_the_counts():
    v = visits_of()
    rng = np.random.default_rng(0)
    seen = rng.integers(3, size=600)
    assert not any(visit_refutes(v, 0, 0.5, int(s), 0.01) for s in seen)
    step, used = int(v.step[0]), int(v.used[0])
    assert step > 1
    assert used < PLACES
    for p in range(used):
        assert (v.earlier[0, p] == np.bincount(seen[: (p + 1) * step], minlength=3)).all()
    changed = [visit_refutes(v, 0, 0.5, 0, 0.01) for _ in range(200)]
    assert any(changed)


@pytest.mark.interpreted
def test_the_mixture_bound_holds_for_fractional_sums():
    """(n+1)·B(x+1, n−x+1) ≥ p̂^x(1−p̂)^{n−x} for real x: what the proof needs for rewards that are not 0 or 1."""
    from scipy.special import betaln, xlogy

    for n in (1.0, 2.0, 7.0, 50.0, 1000.0):
        x = np.linspace(0, n, 997)
        best = xlogy(x, x / n) + xlogy(n - x, 1 - x / n)
        assert (betaln(x + 1, n - x + 1) + choices_log(n, 2) >= best - 1e-9).all()
    assert bernoulli_ratio(3.0, 10.0, 6.0, 20.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.compiled
def test_no_alarm_in_static_riverswim_and_one_restart_per_jump():
    """200 runs at δ = 0.01; with three jumps of the mirror image, each found once, in 18 of 20 runs or more."""
    base = db.zoo.opt_wlsvi(gamma=1.0, beta=0.1)
    still = db.mdp.riverswim(episodes=300, drift="static")
    found = [db.simulate_mdp(db.zoo.detect_ucrl(base), still, seed=i).info["restarts"] for i in range(200)]
    assert sum(found) <= 2  # 2 expected at most, by the union bound
    jumps = db.mdp.riverswim(episodes=900, drift="abrupt", changes=2)
    found = [db.simulate_mdp(db.zoo.detect_ucrl(base), jumps, seed=i).info["restarts"] for i in range(20)]
    assert sum(n == 2 for n in found) >= 18


@pytest.mark.interpreted
def test_a_jump_is_found_and_the_plan_recovers():
    K = 120 if INTERPRETED else 600
    jumps = db.mdp.riverswim(states=3, horizon=6, episodes=K, drift="abrupt", changes=1)
    base = db.zoo.opt_wlsvi(gamma=1.0, beta=0.05)
    run = db.simulate_mdp(db.zoo.detect_ucrl(base), jumps, seed=0)
    plain = db.simulate_mdp(base, jumps, seed=0)
    assert run.info["restarts"] == 1
    assert K // 2 < run.info["last_restart"] <= K // 2 + 20
    assert run.regret[-1] < plain.regret[-1]


@pytest.mark.interpreted
def test_what_is_too_large_or_no_probability_is_refused():
    with pytest.raises(InvalidValue, match="delta"):
        db.zoo.detect_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1), delta=0.0)
    strategy = db.zoo.detect_ucrl(db.zoo.opt_wlsvi(gamma=1.0, beta=0.1))
    world = db.mdp.random_linear_mixture(states=4, actions=2, episodes=2)
    with pytest.raises(InvalidValue, match="too large for this test"):
        open_book(strategy, world.task._replace(states=2000, actions=200, moves=None))
