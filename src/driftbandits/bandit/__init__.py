"""The front for production: named items, features, clocks, decisions that wait for their reward, durable state."""

from .bandit import Bandit, DriftEvent, Estimate
from .decision import Decision
from .pending import AlreadyRewarded, UnknownDecision

__all__ = ["AlreadyRewarded", "Bandit", "Decision", "DriftEvent", "Estimate", "UnknownDecision"]
