"""Sequential decisions in a drifting world."""

__version__ = "0.1.0"
