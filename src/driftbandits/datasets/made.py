"""Simulated streams with known times of drift."""

import itertools

import numpy as np

from ..errors import CannotRead, InvalidValue, integer, real
from .dataset import Dataset, from_labels

SEGMENTS = (  # of the digits 0 to 9: top, upper left, upper right, middle, lower left, lower right, bottom
    "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
)
RELEVANT = 7


def led(
    *,
    horizon: int = 10_000,
    changes: int = 3,
    drifting: int = 7,
    noise: float = 0.1,
    irrelevant: int = 17,
    seed: int = 0,
) -> Dataset:
    """LED with drift (Breiman et al. 1984): recognise the digit that seven segments show, among irrelevant features. 10 items.

    At each of `changes` times, evenly spread, `drifting` of the segments are exchanged with irrelevant features.

    Parameters
    ----------
    noise
        Probability that a segment is inverted, in [0, 1].
    """
    T = integer("horizon", horizon, least=1, why="there must be a round to play")
    extra = integer("irrelevant", irrelevant, least=0, why="it is a number of features")
    moved = integer("drifting", drifting, least=0, why="it is a number of segments")
    periods = integer("changes", changes, least=0, why="it is a number of moments") + 1
    if moved > min(RELEVANT, extra):
        raise InvalidValue(
            f"drifting = {moved} is not allowed; it must be ≤ {min(RELEVANT, extra)}: "
            f"{RELEVANT} segments trade places with irrelevant = {extra} lamps"
        )
    chance = real("noise", noise)
    if not 0.0 <= chance <= 1.0:
        raise InvalidValue(f"noise = {noise!r} is not allowed; it must be in [0, 1]: it is a probability")
    rng = np.random.default_rng(seed)
    shapes = np.array([[float(c) for c in digit] for digit in SEGMENTS.split()])
    digits = rng.integers(10, size=T)
    shown = np.hstack([shapes[digits], rng.integers(2, size=(T, extra))])
    inverted = np.hstack([rng.random((T, RELEVANT)) < chance, np.zeros((T, extra), bool)])
    lamps = np.where(inverted, 1.0 - shown, shown)
    X, place = np.empty_like(lamps), np.arange(RELEVANT + extra)  # lamp j shows what stands at place[j]
    for period, now in enumerate(_periods(T, periods)):
        if period:
            segments = rng.choice(RELEVANT, moved, replace=False)
            others = RELEVANT + rng.choice(extra, moved, replace=False) if moved else segments
            of = np.argsort(place)  # where each lies
            place[of[segments]], place[of[others]] = others, segments
        X[now] = lamps[now][:, place]
    return from_labels("led", X, digits, list("0123456789"), [f"lamp {j}" for j in range(RELEVANT + extra)])


def digits(*, horizon: int = 6000, changes: int = 3, seed: int = 0) -> Dataset:
    """Handwritten digits (scikit-learn's, 8×8 pixels) whose labels are permuted at `changes` times, evenly spread. 10 items, 64 features.

    The 1797 images are used repeatedly, in random order.
    """
    T = integer("horizon", horizon, least=1, why="there must be a round to play")
    periods = integer("changes", changes, least=0, why="it is a number of moments") + 1
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise CannotRead("digits ship with scikit-learn, which is not installed: pip install scikit-learn") from None
    pictures, right = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(len(right)) for _ in range(-(-T // len(right)))])[:T]
    labels = right[order].astype(np.int64)
    for period, now in enumerate(_periods(T, periods)):
        if period:
            labels[now] = rng.permutation(10)[labels[now]]
    names = [f"pixel {i} {j}" for i in range(8) for j in range(8)]
    return from_labels("digits", pictures[order] / 16.0, labels, list("0123456789"), names)


def _periods(T: int, count: int) -> list[slice]:
    """The rounds 0..T−1 divided into `count` periods of nearly equal length."""
    ends = np.linspace(0, T, count + 1).round().astype(int)
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]


__all__ = ["digits", "led"]
