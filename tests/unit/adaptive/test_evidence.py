"""Selection of memories against its definition, in plain NumPy."""

import numpy as np
import pytest

from driftbandits.adaptive.evidence import REENTER, REFUTE, SHARE, longest_credible, reweigh, select

pytestmark = pytest.mark.interpreted


def shared_out(weight, score, share):
    """Weights ∝ e^(ℓ + score), a share dealt out anew."""
    w = np.exp(weight + score - (weight + score).max())
    return np.log((1.0 - share) * w / w.sum() + share / len(w))


@pytest.mark.parametrize("seed", range(10))
def test_weights_are_bayes_rule_with_a_fixed_share(seed):
    rng = np.random.default_rng(seed)
    weight, expected = np.zeros(5), np.zeros(5)
    for _ in range(50):
        score = 3.0 * rng.normal(size=5)
        expected = shared_out(expected, score, 1e-3)
        lead = reweigh(weight, score, 0, 5, 1e-3)
        assert lead == np.argmax(expected)
        np.testing.assert_allclose(weight, expected, rtol=1e-12)
        assert np.exp(weight).sum() == pytest.approx(1.0)


def test_memories_outside_the_range_take_no_part():
    weight = np.array([5.0, 0.0, 0.0, 7.0])
    assert reweigh(weight, np.array([9.0, 0.0, 1.0, 9.0]), 1, 3, SHARE) == 2
    assert weight[0] == 5.0
    assert weight[3] == 7.0


def test_in_use_is_the_longest_within_the_margin():
    weight = np.array([-3.0, -1.0, -2.5, -1.5, -9.0])
    assert longest_credible(weight, 1, 5, 0.4) == 1
    assert longest_credible(weight, 1, 5, 0.6) == 3
    assert longest_credible(weight, 1, 5, 8.5) == 4


def test_only_longer_memories_that_are_far_behind_are_refuted():
    """The shorter one is as far behind, and stays; the longest re-enters, with the nats it was behind told."""
    weight, refuted = np.log(np.full(3, 1 / 3)), np.full(3, 7)
    score = np.array([-9.0, 0.0, -9.0])
    lead, use = select(weight, score, 0, 3, 1.0, refuted)
    assert (lead, use) == (1, 1)
    assert refuted.tolist() == [0, 0, 1]
    assert score[2] > REFUTE
    assert weight[2] == weight[1] - REENTER
    assert weight[0] < weight[1] - REFUTE
    assert select(weight, np.zeros(3), 0, 3, 5.0, refuted) == (1, 2)
    assert refuted.tolist() == [0, 0, 0]
