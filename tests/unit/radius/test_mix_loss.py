"""The radii of one-pass learners: what they say, and what they assume."""

import math

import numpy as np
import pytest

import driftbandits as db
from driftbandits import radius


@pytest.mark.interpreted
def test_before_any_data():
    """β² = aλS² + 2φη log(1/δ)."""
    for anchor, a in (("ridge", 1.0), ("prox", 4.0)):
        agent = db.Agent(db.zoo.domd_glb(gamma=0.9, lam=2, S=3, L=1, delta=0.01, anchor=anchor), dim=2)
        agent.scores([[1.0, 0.0]])
        assert agent.info()["radius"] ** 2 == pytest.approx(a * 2 * 9 + 2 * math.log(100), rel=1e-12)


@pytest.mark.interpreted
def test_the_published_radius():
    """β_t² = 4λS² + 2η log(1/δ) + (6η²+η)·d·log(1 + k_μt/(λd)), λ = max{14dη, 6ηSk_μ}, η = 1 + S."""
    d, S, delta, T = 3, 2.0, 0.05, 6
    agent = db.Agent(db.zoo.glb_omd(S=S, L=1, delta=delta, constants="published"), dim=d)
    eta = 1 + S
    lam = max(14 * d * eta, 6 * eta * S * 0.25)
    assert agent.strategy.model.lam == lam
    for _ in range(T):
        agent.update(1.0, x=[1.0, 0.0, 0.0])
    expected = 4 * lam * S**2 + 2 * eta * math.log(1 / delta)
    expected += (6 * eta**2 + eta) * d * math.log(1 + 0.25 * T / (lam * d))
    assert agent.info()["radius"] ** 2 == pytest.approx(expected, rel=1e-12)


@pytest.mark.interpreted
def test_rewards_that_the_theorem_does_not_cover_are_refused():
    for link, bad in (("logistic", 1.5), ("probit", -0.1), ("poisson", -1.0)):
        agent = db.Agent(db.zoo.domd_glb(link=link, gamma=0.9, S=1, L=1, delta=0.05), dim=1)
        with pytest.raises(db.errors.InvalidValue, match="reward"):
            agent.update(bad, x=[1.0])
    db.Agent(db.zoo.domd_glb(link="identity", gamma=0.9, S=1, L=1, delta=0.05), dim=1).update(-7.0, x=[1.0])


def test_bad_constants_are_refused():
    fine = {"lam": 1.0, "S": 1.0, "L": 1.0, "delta": 0.1}
    for bad in (
        {"lam": 0.0},
        {"S": 0.0},
        {"L": -1.0},
        {"delta": 1.0},
        {"scale": -1.0},
        {"top": -1.0},
        {"uniform": 3.0},
    ):
        with pytest.raises(db.errors.InvalidValue, match=f"{next(iter(bad)).replace('scale', 'bonus_scale')} = "):
            radius.MixLoss(**fine | bad)
    with pytest.raises(db.errors.InvalidValue, match="k_mu = 0"):
        radius.PublishedMixLoss(**fine, k_mu=0.0, eta=1.0)


@pytest.mark.interpreted
def test_the_dispersion_of_the_identity_link_is_the_variance_of_its_noise():
    """The method of mixtures: β² = λS² + R²(2 log(1/δ) + Υ); Υ = log(1 + ‖x‖²/λ) after one observation."""
    agent = db.Agent(db.zoo.domd_glb(link="identity", gamma=0.9, lam=2, S=1, L=1, R=0.5, delta=0.1), dim=1)
    agent.update(0.3, x=[0.8])
    expected = 2 + 0.25 * (2 * math.log(10) + np.log1p(0.64 / 2))
    assert agent.info()["radius"] ** 2 == pytest.approx(expected, rel=1e-12)
