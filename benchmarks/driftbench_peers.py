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

    def __init_subclass__(cls, *, peer):
        """`peer` names its file in bench/peers; up to eight settings beside its default are for the tuned track."""
        cls.peer, cls.settings = peer, module(peer).SETTINGS[1:9]

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


class VowpalWabbit(Peer, peer="vowpalwabbit"):
    """See bench/peers/vowpalwabbit_.py."""


class BayesianBandits(Peer, peer="bayesianbandits"):
    """See bench/peers/bayesianbandits_.py."""


class River(Peer, peer="river"):
    """See bench/peers/river_.py."""


class Mabwiser(Peer, peer="mabwiser"):
    """See bench/peers/mabwiser_.py."""


class ContextualBandits(Peer, peer="contextualbandits"):
    """See bench/peers/contextualbandits_.py."""


class Coba(Peer, peer="coba"):
    """See bench/peers/coba_.py."""


class NumPy(Peer, peer="numpy"):
    """See bench/peers/numpy_.py."""
