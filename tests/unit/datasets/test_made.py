"""Streams made on the spot: the drift is where it is said to be."""

import numpy as np
import pytest

import driftbandits as db


def relevant(data, rounds):
    """Lamps that tell the digit in these rounds: those whose values are a function of it, without noise."""
    X, digit = data.X[rounds], data.R[rounds].argmax(axis=1)
    return {j for j in range(X.shape[1]) if all(np.ptp(X[digit == k, j]) == 0 for k in range(10))}


def test_led_without_noise_shows_the_digit_and_moves_its_segments():
    data = db.datasets.led(horizon=4000, changes=1, drifting=3, noise=0.0, seed=1)
    before, after = relevant(data, slice(0, 2000)), relevant(data, slice(2000, 4000))
    assert before == set(range(7))
    assert len(after) == 7
    assert len(before & after) == 4
    assert set(np.unique(data.X)) == {0.0, 1.0}
    eight = data.X[:2000][data.R[:2000, 8] == 1][0, :7]
    assert eight.tolist() == [1.0] * 7


def test_led_is_noisy_where_it_should_be():
    clean, noisy = (db.datasets.led(horizon=4000, changes=2, noise=noise, seed=2) for noise in (0.0, 0.1))
    np.testing.assert_array_equal(clean.R, noisy.R)
    flipped = clean.X[:1333] != noisy.X[:1333]
    assert flipped[:, 7:].sum() == 0
    assert abs(flipped[:, :7].mean() - 0.1) < 0.02  # 9331 draws: 6 standard errors
    assert not (clean.X[:10] != db.datasets.led(horizon=4000, changes=2, noise=0.0, seed=2).X[:10]).any()


@pytest.mark.parametrize("given", [{"drifting": 8}, {"noise": 2}, {"changes": -1}, {"horizon": 0}, {"irrelevant": 3}])
def test_what_led_refuses(given):
    with pytest.raises(db.DriftBanditsError, match="is not allowed"):
        db.datasets.led(**given)


def test_digits_change_their_labels_and_nothing_else():
    from sklearn.datasets import load_digits

    pictures, right = load_digits(return_X_y=True)
    data = db.datasets.digits(horizon=3000, changes=1, seed=0)
    assert (len(data), len(data.items), data.X.shape[1]) == (3000, 10, 64)
    known = {tuple(x / 16.0): label for x, label in zip(pictures, right, strict=True)}
    true = np.array([known[tuple(x)] for x in data.X])
    told = data.R.argmax(axis=1)
    assert (told[:1500] == true[:1500]).all()
    renamed = {int(t): set(told[1500:][true[1500:] == t].tolist()) for t in range(10)}
    assert all(len(names) == 1 for names in renamed.values())
    assert any(names != {t} for t, names in renamed.items())
