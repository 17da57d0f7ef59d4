"""What is estimated, and how? Weighted ridge regression."""

from .linear import Linear

__all__ = ["Linear"]
