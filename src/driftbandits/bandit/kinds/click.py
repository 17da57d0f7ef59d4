"""Rewards that are 0 or 1: something happened or it did not. A mean is a probability."""

from .kind import Kind

KIND = Kind("0 or 1", 0.0, 1.0, lambda r: r in (0.0, 1.0))
