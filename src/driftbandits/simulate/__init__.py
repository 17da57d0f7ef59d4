"""One compiled loop runs any strategy in any world: `simulate` once, `trials` many times."""

from .runs import Run, simulate, trials

__all__ = ["Run", "simulate", "trials"]
