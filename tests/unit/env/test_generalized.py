"""Generalized linear worlds: the law of the rewards, shared noise, and what is refused."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import driftbandits as db
from driftbandits import links
from driftbandits.core.kernel import entry, part
from driftbandits.env.rewards import draws, expected, respond
from driftbandits.errors import InvalidShape, InvalidValue

ARMS = db.env.unit_arms(4, dim=2, seed=0)
N = 20_000


@entry
def all_responses(reward, z, u, out):
    for t in range(u.shape[0]):
        out[t] = respond(reward, z, u[t])
    return expected(reward, z)


def sample(link, z, n=N, **options):
    world = db.env.generalized(ARMS, db.env.rotating(10), link=link, **options)
    out = np.zeros(n)
    mean = all_responses(world.reward, z, draws(world.reward, np.random.default_rng(7), n), out)
    return out, mean


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_bernoulli_rewards(link):
    rewards, mean = sample(link, 0.6)
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert mean == pytest.approx(links.evaluate(link, [0.6])[0][0])
    assert abs(rewards.mean() - mean) < 4 * np.sqrt(mean * (1 - mean) / N)


@pytest.mark.parametrize("z", [-3.0, 0.5, 3.0, 7.0])
def test_counts_are_poisson(z):
    """Inversion of one uniform number is the quantile function itself."""
    rewards, mean = sample("poisson", z, 3000)
    u = np.random.default_rng(7).random(3000)
    assert mean == pytest.approx(np.exp(z))
    np.testing.assert_array_equal(rewards, stats.poisson.ppf(u, np.exp(z)))


def test_identity_is_gaussian():
    rewards, mean = sample("identity", 0.4, noise=0.5)
    assert mean == 0.4
    assert stats.kstest(rewards, "norm", args=(0.4, 0.5)).pvalue > 0.01


def test_all_algorithms_share_the_noise():
    """A round's uniform number decides alike for whatever was played: better arms win whenever worse ones do."""
    low, _ = sample("logistic", -0.5, 1000)
    high, _ = sample("logistic", 0.5, 1000)
    assert (high >= low).all()


@part
class Doubled(NamedTuple):
    """μ(z) = 1 + z, which is no probability."""


@links.mu.register(Doubled)
def _(link, z):
    return 1.0 + z


@links.dmu.register(Doubled)
def _(link, z):
    return 1.0


@links.ddmu.register(Doubled)
def _(link, z):
    return 0.0


def test_bad_worlds_are_refused():
    path = db.env.rotating(10)
    with pytest.raises(InvalidValue, match="link = 'cloglog' is not allowed"):
        db.env.generalized(ARMS, path, link="cloglog")
    with pytest.raises(InvalidValue, match="Doubled is a link without a law"):
        db.env.generalized(ARMS, path, link=Doubled())
    with pytest.raises(InvalidValue, match=r"Doubled gives means in \[0, 2\] .* a Bernoulli reward is 0 or 1"):
        db.env.generalized(ARMS, path, link=Doubled(), rewards="bernoulli")
    with pytest.raises(InvalidValue, match=r"a Bernoulli reward is 0 or 1"):
        db.env.generalized(ARMS, path, link="identity", rewards="bernoulli")
    with pytest.raises(InvalidValue, match="rewards = 'beta' is not allowed"):
        db.env.generalized(ARMS, path, rewards="beta")
    with pytest.raises(InvalidValue, match="noise"):
        db.env.generalized(ARMS, path, link="identity", noise=-1.0)
    with pytest.raises(InvalidShape, match="both must be the same"):
        db.env.generalized(db.env.unit_arms(4, dim=3), path)
    assert db.env.generalized(0.4 * ARMS, path, link=Doubled(), rewards="poisson").horizon == 10
