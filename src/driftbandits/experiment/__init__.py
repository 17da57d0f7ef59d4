"""Experiments as data: run them, resume them, on one machine or many; test their claims; draw and report them.

>>> from driftbandits import experiment
>>> "lb-regret" in experiment.panel_names()
True
"""

from .cells import plan
from .panels import names as panel_names
from .publish import Published, publish
from .source import SpecError
from .spec import Experiment, load

__all__ = ["Experiment", "Published", "SpecError", "load", "panel_names", "plan", "publish"]
