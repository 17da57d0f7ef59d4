"""`Agent`: any strategy of the zoo, one decision at a time: vectors in, an index out."""

from .agent import Agent

__all__ = ["Agent"]
