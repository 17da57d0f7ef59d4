"""Rewards that may be any real number."""

from .kind import Kind

KIND = Kind("a number")
