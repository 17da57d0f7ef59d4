"""What if nobody knows how fast the world changes? Strategies made of strategies."""

from .master import Master

__all__ = ["Master"]
