"""Exp3.IX against its oracle, and its regret against its theorem on sequences an adversary would choose."""

import math

import naive
import numpy as np
import pytest
from numba import config

import driftbandits as db
from driftbandits.core.kernel import entry
from driftbandits.meta.exp3ix import Exp3IX, blank_exp3, play, update_loss


@entry
def play_all(exp3, state, losses, options, probabilities, rng):
    """One play a row of losses (M, N); what was chosen, and with which probabilities."""
    for i in range(losses.shape[0]):
        options[i] = play(exp3, state, rng)
        for j in range(losses.shape[1]):
            probabilities[i, j] = state.p[j]
        update_loss(exp3, state, losses[i, options[i]])


def run(losses, *, anytime=False, seed=0):
    M, N = losses.shape
    exp3 = Exp3IX(N, 0 if anytime else M)
    options, probabilities = np.zeros(M, np.int64), np.zeros((M, N))
    play_all(exp3, blank_exp3(exp3), losses, options, probabilities, np.random.default_rng(seed))
    return options, probabilities


def alternating(M, N):
    """Losses made to fool a learner that follows the leader: the option that was best so far always loses next."""
    losses, total = np.zeros((M, N)), np.zeros(N)
    for i in range(M):
        losses[i] = 0.2
        losses[i, np.argmin(total)] = 1.0
        total += losses[i]
    return losses


def one_good(M, N):
    """Every option loses a fair coin's flip, the last one only every fifth time."""
    losses = (np.random.default_rng(7).random((M, N)) < 0.5).astype(float)
    losses[:, -1] = np.arange(M) % 5 == 0
    return losses


def late_turn(M, N):
    """The best option of the first half is the worst of the second."""
    losses = np.full((M, N), 0.5)
    losses[: M // 2, 0], losses[M // 2 :, 0] = 0.0, 1.0
    losses[:, 1] = 0.4
    return losses


@pytest.mark.parametrize("anytime", [False, True])
def test_probabilities_equal_the_oracle(anytime):
    losses = np.random.default_rng(3).random((40, 5))
    options, probabilities = run(losses, anytime=anytime)
    for i in range(40):
        known = [losses[s, options[s]] for s in range(i)]
        expected = naive.exp3ix_probabilities(options[:i].tolist(), known, N=5, M=40, anytime=anytime)
        np.testing.assert_allclose(probabilities[i], expected, rtol=1e-12)


def test_options_are_drawn_with_these_probabilities():
    # losses of zero keep p uniform: 5 standard deviations of a binomial count
    M, N = 4000, 4
    options, probabilities = run(np.zeros((M, N)), seed=1)
    assert (probabilities == 0.25).all()
    assert np.abs(np.bincount(options, minlength=N) - M / N).max() < 5 * math.sqrt(M * 0.25 * 0.75)


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize("sequence", [alternating, one_good, late_turn])
def test_regret_is_within_the_theorem(sequence, anytime):
    # Neu (2015), Theorem 1, δ = 0.05, for each of 20 seeds; measured regret is a fifth of the bound
    M, N, seeds = 400 if config.DISABLE_JIT else 2000, 6, 5 if config.DISABLE_JIT else 20
    losses = sequence(M, N)
    log_N, log_delta = math.log(N), math.log(2 / 0.05)
    if anytime:
        bound = 4 * math.sqrt(N * M * log_N) + (2 * math.sqrt(N * M / log_N) + 1) * log_delta
    else:
        bound = 2 * math.sqrt(2 * N * M * log_N) + (math.sqrt(2 * N * M / log_N) + 1) * log_delta
    for seed in range(seeds):
        options, _ = run(losses, anytime=anytime, seed=seed)
        regret = losses[np.arange(M), options].sum() - losses.sum(axis=0).min()
        assert regret < bound
        # The bound alone is so wide that uniform play satisfies it, too: learning must halve what uniform play loses to the best option.
        if sequence is one_good and not config.DISABLE_JIT:
            assert regret < 0.6 * (losses.mean(axis=1).sum() - losses.sum(axis=0).min())


@pytest.mark.compiled
def test_it_finds_the_one_good_option():
    M, N = 3000, 6
    shares = [np.mean(run(one_good(M, N), seed=seed)[0][-500:] == N - 1) for seed in range(10)]
    assert np.mean(shares) > 0.6  # uniform play: 0.17


def test_a_single_option_is_certain():
    options, probabilities = run(np.ones((5, 1)))
    assert options.tolist() == [0] * 5
    assert (probabilities == 1.0).all()


@pytest.mark.parametrize(("options", "plays"), [(0, 10), (2.5, 10), (3, -1)])
def test_refuses(options, plays):
    with pytest.raises(db.DriftBanditsError, match="is not allowed"):
        Exp3IX(options, plays)
