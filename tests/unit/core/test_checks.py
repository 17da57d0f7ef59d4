"""What users hand over: every bad feature is seen, wherever it stands."""

import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db
from driftbandits.core.checks import LongArmWarning, check_arms, largest_square
from driftbandits.errors import InvalidValue

NOT_FINITE = (np.nan, np.inf, -np.inf)
SIZES = [(n, d) for n in range(1, 41) for d in range(1, 21)]
if INTERPRETED:  # all sizes are for the compiler's flags; Python needs a few
    SIZES = [(1, 1), (1, 3), (3, 1), (5, 4)]


@pytest.mark.parametrize("bad", NOT_FINITE)
def test_a_feature_that_is_not_finite_is_seen_at_every_position(bad):
    rng = np.random.default_rng(0)
    measure = largest_square.direct(np.zeros((1, 1, 1)))
    tried = 0
    for n, d in SIZES:
        arms = rng.uniform(-1.0, 1.0, (1, d, n)) / np.sqrt(d)
        assert measure(arms) <= 1.0
        flat = arms.reshape(-1)
        for j in range(n * d):
            kept, flat[j] = flat[j], bad
            square = measure(arms)
            assert not np.isfinite(square), (n, d, j)
            flat[j] = kept
            tried += 1
    assert tried == sum(n * d for n, d in SIZES)


def test_a_long_arm_is_seen_at_every_position():
    rng = np.random.default_rng(1)
    measure = largest_square.direct(np.zeros((1, 1, 1)))
    for n, d in SIZES:
        arms = rng.uniform(-1.0, 1.0, (1, d, n)) / np.sqrt(d)
        for a in range(n):
            kept = arms[0, :, a].copy()
            arms[0, :, a] *= 3.0 / np.linalg.norm(kept)
            assert measure(arms) == pytest.approx(9.0, rel=1e-12), (n, d, a)
            arms[0, :, a] = kept


@pytest.mark.parametrize("bad", [*NOT_FINITE, 5.0])
def test_two_bad_arms_do_not_hide_each_other(bad):
    """An infinite or long arm before a NaN, and after it: the issue's own example returned an index."""
    for position in range(6):
        arms = np.full((6, 2), 0.5)
        arms[position, 0] = bad
        for other in range(6):
            if other != position:
                twice = arms.copy()
                twice[other, 1] = np.nan
                with pytest.raises(InvalidValue, match="NaN or infinity"):
                    check_arms(np.ascontiguousarray(twice.T)[None], 1.0, "error")


@pytest.mark.parametrize("check", ["error", "warn", "off"])
def test_every_block_is_checked(check):
    arms = np.zeros((5, 3, 4))
    for t in range(5):
        arms[t, 1, 2] = np.nan
        with pytest.raises(InvalidValue, match="NaN or infinity"):
            check_arms(arms, 1.0, check)
        arms[t, 1, 2] = 0.0
    check_arms(arms, 1.0, check)


def test_arms_in_any_memory_order_are_checked():
    arms = np.zeros((3, 4, 5)).transpose(2, 0, 1)
    arms[4, 2, 3] = np.nan
    with pytest.raises(InvalidValue, match="NaN or infinity"):
        check_arms(arms, 1.0, "off")


def test_the_norm_may_exceed_its_bound_by_rounding_only():
    arms = np.full((1, 1, 1), 2.0)
    check_arms(arms, 2.0, "error")
    check_arms(arms * (1.0 + 1e-10), 2.0, "error")
    with pytest.raises(InvalidValue, match="norm 2 > L = 2"):
        check_arms(arms * (1.0 + 1e-8), 2.0, "error")
    with pytest.warns(LongArmWarning, match="raise L, or rescale"):
        check_arms(arms * 1.01, 2.0, "warn")
    check_arms(arms * 100.0, 2.0, "off")


@pytest.mark.filterwarnings("ignore:overflow")  # Python warns of it, compiled code does not
def test_a_norm_that_overflows_is_refused_for_what_it_is():
    with pytest.raises(InvalidValue, match="overflows"):
        check_arms(np.full((1, 2, 3), 1e200), 1e300, "off")


def test_an_agent_refuses_before_it_learns_or_draws_anything():
    agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.95, lam=1.0, S=1.0, L=1.0, R=0.5, delta=0.05), dim=3, horizon=40)
    arms = np.eye(3)
    before = [agent.select(arms) for _ in range(3)]
    state = agent._rng.bit_generator.state
    for a in range(3):
        for i in range(3):
            for bad in (*NOT_FINITE, 7.0):
                offer = arms.copy()
                offer[a, i] = bad
                with pytest.raises(InvalidValue):
                    agent.select(offer)
                with pytest.raises(InvalidValue):
                    agent.update(0.5, x=offer[a])
    assert agent._rng.bit_generator.state == state
    assert agent.info()["observations"] == 0
    assert len(before) == 3
