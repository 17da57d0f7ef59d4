"""Rewards that are counts: the number of times that something happened."""

from .kind import Kind

KIND = Kind("0, 1, 2, …", low=0.0, accepts=lambda r: r >= 0.0 and r == int(r))
