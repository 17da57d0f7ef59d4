"""It happened, or it did not: a mean is a probability."""

from .kind import Kind

KIND = Kind("0 or 1", 0.0, 1.0, lambda r: r in (0.0, 1.0))
