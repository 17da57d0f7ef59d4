"""Inverse links μ = b′ with μ′, μ″ and the log-partition b (paper, section 4; algorithms §2.0).

k_μ and c_μ are the largest and the smallest μ′ on [-LS, LS] (ass:link-function), found by looking everywhere.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr


class Link(NamedTuple):
    mu: Callable
    dmu: Callable
    ddmu: Callable
    log_partition: Callable  # b with b′ = μ, so that F is the weighted negative log-likelihood


def _normal_density(z):
    return np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi)


LINKS = {
    "identity": Link(
        mu=lambda z: np.asarray(z, float),
        dmu=lambda z: np.ones_like(np.asarray(z, float)),
        ddmu=lambda z: np.zeros_like(np.asarray(z, float)),
        log_partition=lambda z: np.square(z) / 2,
    ),
    "logistic": Link(
        mu=expit,
        dmu=lambda z: expit(z) * expit(-np.asarray(z, float)),
        ddmu=lambda z: expit(z) * expit(-np.asarray(z, float)) * -np.tanh(np.asarray(z, float) / 2),
        log_partition=lambda z: np.logaddexp(0.0, z),
    ),
    "probit": Link(
        mu=ndtr,
        dmu=_normal_density,
        ddmu=lambda z: -z * _normal_density(z),
        log_partition=lambda z: z * ndtr(z) + _normal_density(z),
    ),
    "poisson": Link(mu=np.exp, dmu=np.exp, ddmu=np.exp, log_partition=np.exp),
}


def slopes(link, LS, points=200_001):
    """(k_μ, c_μ): sup and inf of μ′ on |z| ≤ LS; the grid holds both ends and 0."""
    values = LINKS[link].dmu(np.linspace(-LS, LS, points))
    return float(np.max(values)), float(np.min(values))
