"""The radii of the generalized and self-concordant families against the paper's numbers."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits import links, radius
from driftbandits.core.kernel import entry
from driftbandits.protocol import Setting, beta, blank_estimate

FEW = settings(max_examples=10 if INTERPRETED else 30)


@entry
def beta_of(form, n, est, horizon):
    return beta(form, n, est, horizon)


def width(form, n, d=2, horizon=6000):
    est = blank_estimate(None, Setting(d, np.zeros((d, 0)), horizon), False)
    return beta_of(form, np.array([n, n]), est, horizon)


def n_of(gamma):
    return (1 - gamma**6000) / (1 - gamma)


@pytest.mark.parametrize(
    ("S", "gamma", "beta_bar", "gamma_scb", "beta_tilde", "static"),
    [
        (1.0, 0.98985378, 3.6572, 0.97711772, 11.5560, 13.2407),
        (5.0, 0.99813428, 9.2389, 0.97711772, 28.2409, 29.9255),
    ],
)
def test_radii_of_the_papers_experiment(S, gamma, beta_bar, gamma_scb, beta_tilde, static):
    k, c = links.slopes(links.Logistic(), S)
    delta = 1 / 12000
    glb = db.zoo.glb_weight_ucb(gamma=gamma, lam=2 / c**2, S=S, L=1, delta=delta)
    assert width(glb.radius, n_of(gamma)) == pytest.approx(2 * k / c * beta_bar, rel=2e-5)
    scb = db.zoo.scb_weight_ucb(gamma=gamma_scb, lam=2 * np.log(6000) / c, S=S, L=1, delta=delta)
    factor = 2 * np.sqrt(1 + 2 * S) * k / np.sqrt(c)
    assert width(scb.radius, n_of(gamma_scb)) == pytest.approx(factor * beta_tilde, rel=1e-5)
    log = db.zoo.log_ucb1(lam=2 * np.log(6000) / c, S=S, L=1, delta=delta)
    assert width(log.radius, 6000.0) == pytest.approx(factor * static, rel=1e-5)


@FEW
@given(st.floats(0, 1e4), st.floats(0.1, 3), st.floats(0.1, 3), st.booleans(), st.booleans())
def test_self_concordant_radius(n, S, m, corrected, uniform):
    k, c = links.slopes(links.Logistic(), 0.8 * S)
    constants = {"lam": 5.0, "S": S, "L": 0.8, "m": m, "delta": 0.03}
    variant = "corrected" if corrected else "printed"
    form = db.zoo.log_ucb1(**constants, variant=variant, uniform_in_time=uniform).radius
    oracle = naive.beta_tilde(n, d=3, k_mu=k, c_mu=c, variant=variant, uniform_in_time=uniform, T=500, **constants)
    factor = 2 * np.sqrt(1 + 2 * 0.8 * S) * k / np.sqrt(c)
    assert width(form, n, d=3, horizon=500) == pytest.approx(factor * oracle, rel=1e-12)


def test_corrected_radii_are_never_smaller():
    options = {"lam": 20.0, "S": 2.0, "L": 1.0, "delta": 0.1}
    printed, corrected = (db.zoo.log_ucb1(variant=v, **options).radius for v in ("printed", "corrected"))
    assert isinstance(printed, radius.SelfConcordant)
    assert width(corrected, 100.0) > width(printed, 100.0)
