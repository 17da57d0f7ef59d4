"""Real streams of `datasets`: choosing the correct label has reward 1. A stream is played only if its files are on this machine."""

import functools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import datasets
from ..errors import CannotRead
from .bandit_worlds import with_items
from .shapes import Rng
from .task import Made, NotHere

Stream = Literal["elec2", "weather", "sea"]
STRETCHES = 11  # eight for the judge, three for design; they do not overlap
CLIP = 3.0  # standardised features are cut here


def stream(name: Stream) -> Callable[[Rng, int, int], Made]:
    """Draw i plays the i-th of 11 stretches of equal distance; features are standardised by its first tenth."""

    def make(rng: Rng, T: int, draw: int) -> Made:
        data = _read(name)
        first = draw % STRETCHES * (len(data) // STRETCHES)
        X, R = data.X[first : first + T], data.R[first : first + T]
        past = X[: max(len(X) // 10, 2)]
        spread = np.where(past.std(axis=0) > 0.0, past.std(axis=0), 1.0)
        X = np.clip((X - past.mean(axis=0)) / spread, -CLIP, CLIP)
        rows = np.concatenate([np.ones((len(X), 1)), X], axis=1) / (1.0 + X.shape[1]) ** 0.5
        return with_items(rows, R, R, reward="click", S=float(R.shape[1]) ** 0.5, R=0.5)

    return make


@functools.cache
def _read(name: Stream) -> Any:
    try:
        return getattr(datasets, name)()
    except CannotRead as problem:
        raise NotHere(str(problem)) from None
