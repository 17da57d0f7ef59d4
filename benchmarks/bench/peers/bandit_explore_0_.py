"""Ours without a floor under propensities: `db.Bandit(reward=…, explore=0)`."""

import functools

from .bandit_ import PACKAGE, SETTINGS, Ours, refuses

__all__ = ["PACKAGE", "SETTINGS", "make", "refuses"]
make = functools.partial(Ours, explore=0.0)
