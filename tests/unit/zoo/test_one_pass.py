"""`glb_omd` and `domd_glb`: what their options mean, what they refuse."""

from typing import NamedTuple

import pytest

import driftbandits as db
from driftbandits import zoo
from driftbandits.core.kernel import part
from driftbandits.links import ddmu, dmu, log_partition, mu

FINE = {"S": 1.0, "L": 1.0, "delta": 0.05}


def test_defaults_are_those_of_the_proof():
    """Implicit, ridge, unprojected, damped: any η is proven, and the default is 1 with λ = φηL²."""
    model = zoo.domd_glb(gamma=0.9, S=2.0, L=3.0, delta=0.05).model
    assert (model.eta, model.lam, model.explicit, model.prox, model.projected, model.damped) == (1, 9, 0, 0, 0, 1)
    assert zoo.domd_glb(link="identity", R=0.5, gamma=0.9, **FINE).model.phi == 0.25


def test_the_plain_slope_only_where_it_is_proven():
    """μ′(z) needs both the projection and η ≥ 1 + MLS."""
    options = FINE | {"gamma": 0.9}
    assert zoo.domd_glb(**options, projected=True, eta=2.0).model.damped == 0
    assert zoo.domd_glb(**options, projected=True).model.damped == 1
    assert zoo.domd_glb(**options, eta=2.0).model.damped == 1
    explicit = zoo.domd_glb(**options, step="explicit", projected=True).model
    assert (explicit.damped, explicit.eta) == (0, 2)
    assert explicit.lam == pytest.approx(6 * 2 * 0.25 / 0.9)


def test_half_life():
    assert zoo.domd_glb(half_life=10, **FINE).memory.gamma == pytest.approx(2 ** (-1 / 10))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"step": "both"}, "step = 'both'"),
        ({"anchor": "none"}, "anchor = 'none'"),
        ({"constants": "mine"}, "constants = 'mine'"),
        ({"R": 0.5}, "R = 0.5 is not allowed with Logistic"),
        ({"constants": "published", "eta": 2.0}, "constants = 'published' sets step"),
        ({"uniform_in_time": "always"}, "uniform_in_time = 'always'"),
        ({"S": 0.0}, "S = 0"),
        ({"eta": -1.0}, "eta = -1"),
        ({"lam": 0.0}, "lam = 0"),
        ({"lam": -1.0, "constants": "published"}, "lam = -1"),
        ({"bonus_scale": -1.0}, "bonus_scale = -1"),
        ({"link": "loglog"}, "link = 'loglog'"),
    ],
    ids=str,
)
def test_refused(wrong, said):
    with pytest.raises(db.errors.InvalidValue, match=said):
        zoo.domd_glb(**FINE | {"gamma": 0.9} | wrong)


@part
class Steps(NamedTuple):
    """μ(z) = z + ½ sin z: increasing, but log μ′ is not concave."""


@mu.register(Steps)
def _(link, z):
    import math

    return z + 0.5 * math.sin(z)


@dmu.register(Steps)
def _(link, z):
    import math

    return 1.0 + 0.5 * math.cos(z)


@ddmu.register(Steps)
def _(link, z):
    import math

    return -0.5 * math.sin(z)


@pytest.mark.interpreted
def test_a_link_that_the_proof_does_not_cover():
    with pytest.raises(db.errors.InvalidValue, match="Steps is not allowed; its μ′ is not log-concave"):
        zoo.glb_omd(link=Steps(), **FINE)


def test_a_link_without_its_log_partition():
    with pytest.raises(db.errors.InvalidValue, match="Steps has no method for log_partition"):
        db.model.OnePass(link=Steps(), lam=1.0, S=1.0)
    assert not log_partition.knows(Steps)


@pytest.mark.interpreted
def test_master_takes_means_from_a_base_that_scores_predictors():
    """Its tests compare rewards in [0, 1]; an index of GLB-OMD is a predictor, and may be larger."""
    arms = db.env.unit_arms(8, dim=2, seed=0)
    world = db.env.generalized(arms, db.env.static(30, dim=2, seed=0), link="logistic")
    run = db.simulate(zoo.master(zoo.glb_omd(**FINE), horizon=30), world, seed=0)
    assert 0.0 <= run.regret[-1] < 30.0
    agent = db.Agent(zoo.glb_omd(**FINE), dim=2)
    agent.select([[1.0, 0.0], [0.0, 1.0]])
    from driftbandits.protocol import optimism

    value = float(agent._state.work.value[0])
    assert value > 1.0
    assert optimism(agent.strategy, agent._state) == pytest.approx(db.links.evaluate("logistic", [value])[0][0])
