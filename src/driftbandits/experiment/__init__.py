"""Experiments as data: run them, resume them, on one machine or many; test their claims; draw and report them.

>>> from driftbandits import experiment
>>> "lb-regret" in experiment.panel_names()
True
"""

import importlib.util

if importlib.util.find_spec("pydantic") is None:
    raise ImportError("driftbandits.experiment needs pydantic: pip install 'driftbandits[command]'")

from .run.plan import plan
from .spec.experiment import Experiment, load
from .spec.panels import names as panel_names
from .spec.source import SpecError
from .write.publish import Published, publish

__all__ = ["Experiment", "Published", "SpecError", "load", "panel_names", "plan", "publish"]
