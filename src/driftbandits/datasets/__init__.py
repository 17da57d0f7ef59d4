"""Data sets for experiments: read from your files or from an installed package, or simulated. Nothing is downloaded.

>>> import driftbandits as db
>>> data = db.datasets.led(horizon=5, seed=0)
>>> data
Dataset(led: 5 rounds, 10 items, 24 features)
>>> run = db.simulate(db.zoo.self_tuning(features="disjoint"), data.world())   # as a world
>>> for r in data.first(3):                                                    # as decisions
...     bandit = db.Bandit(reward="click") if r.t == 0 else bandit
...     d = bandit.decide(r.items, r.context)
...     bandit.reward(d.id, r.rewards[d.item])
"""

from .dataset import Dataset, Round
from .labelled import elec2, keystroke, labelled, sea, weather
from .logs import open_bandit
from .made import digits, led

__all__ = [
    "Dataset",
    "Round",
    "digits",
    "elec2",
    "keystroke",
    "labelled",
    "led",
    "open_bandit",
    "sea",
    "weather",
]
