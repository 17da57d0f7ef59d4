"""The peers of `make bench` in DriftBench: `driftbandits bench-suite benchmarks/driftbench_peers.py:River`.

Each plays as it does in the benchmark: its documented default untuned, the other settings of its file in the tuned track. A peer that is
not installed takes no part, and says so.
"""

import importlib.util
import pathlib
import sys
from types import SimpleNamespace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from bench import streams
from bench.peers import module

from driftbandits.driftbench.task import CannotPlay


class Peer:
    """A peer behind select and update; it is given the context where all items share one."""

    contexts = True
    role = "peer"
    peer = ""

    def __init__(self, task, seed, **setting):
        own = module(self.peer)
        if importlib.util.find_spec(own.PACKAGE) is None:
            raise CannotPlay(f"{own.PACKAGE} is not installed")
        d = task.context_dim or task.dim
        stream = SimpleNamespace(d=d, n=task.choices, items=bool(task.items), clicks=task.reward == "click", delay=0)
        told = own.refuses(stream)
        if told:
            raise CannotPlay(told)
        self.learner = own.make(stream, seed, **(setting or own.SETTINGS[0]))

    def select(self, offer):
        context, arms = (offer, None) if offer.ndim == 1 else (None, offer)
        self.offer = streams.Offer(context, arms, None)
        self.k = int(self.learner.decide(self.offer))
        return self.k

    def update(self, reward):
        self.learner.learn(self.offer, self.k, reward, 0)


class VowpalWabbit(Peer):
    peer = "vowpalwabbit"
    settings = module("vowpalwabbit").SETTINGS[1:9]


class BayesianBandits(Peer):
    peer = "bayesianbandits"
    settings = module("bayesianbandits").SETTINGS[1:9]


class River(Peer):
    peer = "river"
    settings = module("river").SETTINGS[1:9]


class Mabwiser(Peer):
    peer = "mabwiser"
    settings = module("mabwiser").SETTINGS[1:9]


class ContextualBandits(Peer):
    peer = "contextualbandits"
    settings = module("contextualbandits").SETTINGS[1:9]


class Coba(Peer):
    peer = "coba"
    settings = module("coba").SETTINGS[1:9]


class NumPy(Peer):
    peer = "numpy"
    settings = module("numpy").SETTINGS[1:9]
