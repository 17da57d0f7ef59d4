"""Bounds of κ; κ itself is compared with its oracle in test_environment.py and test_moves.py."""

import numpy as np

from driftbandits.mdp import curvature


def test_distances_do_not_lose_digits_to_what_all_successors_share():
    psi = np.random.default_rng(0).standard_normal((3, 5, 4))
    i, j = np.triu_indices(5, 1)
    middle = 0.5 * (psi[:, i] + psi[:, j])
    exact = np.linalg.norm(psi[:, None] - middle[:, :, None], axis=-1)
    for shared in (0.0, 1e6):
        np.testing.assert_allclose(curvature._distances(psi + shared, i, j), exact, rtol=0, atol=1e-9)
