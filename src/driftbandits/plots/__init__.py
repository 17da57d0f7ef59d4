"""What plots show, who draws them, and the pages they stand on: for experiments and for replays alike."""

from .plot import Axis, Bar, Heat, Plot, Series

__all__ = ["Axis", "Bar", "Heat", "Plot", "Series"]
