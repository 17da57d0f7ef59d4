"""A cell is one learner with one setting on one stream with one seed, kept under everything that its numbers depend on."""

import functools
import hashlib
import importlib
import importlib.metadata
import pathlib
import time
from typing import NamedTuple

import numpy as np

from driftbandits.core.rooms import learner_digest
from driftbandits.io.cell_store import JsonStore, digest

from . import play, streams
from .peers import OURS, module

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@functools.cache
def version(name):
    """Of a peer, and of the NumPy below it; of ours, a digest of the code that decides. None if it is not installed."""
    if name in OURS:
        return f"{importlib.import_module('driftbandits').__version__}+{learner_digest()[:10]}"
    try:
        return importlib.metadata.version(module(name).PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def fingerprint(*pieces):
    """Ten hexadecimal digits of what is in these bytes."""
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(len(piece).to_bytes(8, "little"))
        whole.update(piece)
    return whole.hexdigest()[:10]


def of_stream(stream):
    """Digest of every round: features, rewards, means, names and delays."""
    arrays = [stream.X, stream.R, stream.E, *([] if stream.names is None else [stream.names])]
    told = f"{stream.clicks} {stream.delay} {[(a.shape, str(a.dtype)) for a in arrays]}"
    return fingerprint(told.encode(), *(np.ascontiguousarray(a).tobytes() for a in arrays))


@functools.cache
def of_player(name):
    """Digest of how a learner is called, of its settings, and of how streams are played."""
    own = [HERE / "peers" / f"{file}_.py" for file in dict.fromkeys((name, "bandit" if name in OURS else name))]
    files = (*own, HERE / "peers" / "__init__.py", HERE / "play.py")
    return fingerprint(*(file.read_bytes() for file in files))


class Task(NamedTuple):
    """One stream and seed for one learner: the run as documented, and those that choose a setting on other rounds."""

    stream: str
    seed: int
    default: dict  # key of a cell
    tuning: list  # of each setting, the keys of its cells; empty where there is nothing to choose

    def chosen(self, store):
        """The setting that earns most where one may tune, the documented one of equals; None while cells are missing."""
        found = [[store.found(key) for key in keys] for keys in self.tuning]
        if not found or any(cell is None for row in found for cell in row):
            return None
        return int(np.argmax([np.mean([play.share(cell) for cell in row]) for row in found]))

    def tuned(self, setting):
        """The key of the run with a setting."""
        return {**self.default, "setting": setting}


def wanted(names, scale, seeds=None):
    """The tasks of each learner, and why a stream is absent; `seeds` is the most of each stream."""
    tasks, absent = {name: [] for name in names}, {}
    for title, source in streams.catalogue(scale).items():
        many = source.seeds if seeds is None else min(seeds, source.seeds)
        try:
            rounds = [of_stream(source.make(seed)) for seed in range(many)]
            other = [[of_stream(s) for s in source.tuning(seed)] for seed in range(many if source.fixed else 1)]
        except streams.NotHere as problem:
            absent[title] = str(problem)
            continue
        for name in names:
            same = {"learner": name, "version": version(name), "numpy": np.__version__, "player": of_player(name)}
            same |= {"stream": title, "scale": scale}
            settings = len(module(name).SETTINGS)
            for seed in range(many):
                away = seed if source.fixed else 0
                tuning = [
                    [
                        {**same, "tuning": [away, k], "rounds": digest_, "setting": setting}
                        for k, digest_ in enumerate(other[away])
                    ]
                    for setting in range(settings if settings > 1 else 0)
                ]
                tasks[name].append(
                    Task(title, seed, {**same, "seed": seed, "rounds": rounds[seed], "setting": 0}, tuning)
                )
    return tasks, absent


def stream_of(key):
    """The rounds that a key names."""
    source = streams.catalogue(key["scale"])[key["stream"]]
    if "tuning" in key:
        seed, k = key["tuning"]
        stream = source.tuning(seed)[k]
    else:
        stream = source.make(key["seed"])
    if of_stream(stream) != key["rounds"]:
        raise ValueError(f"{key['stream']}: not the rounds that were asked for")
    return stream


class Store(JsonStore):
    """Finished cells by their keys; what failed is not in it and is tried again."""

    def __contains__(self, key):
        return self.found(key) is not None

    def found(self, key):
        """A finished cell with its name, or None."""
        name = digest(key)
        cell = self.get(name)
        return None if cell is None else {"cell": name, **cell}

    def add(self, key, found):
        self.put(key, {"measured": time.strftime("%Y-%m-%dT%H:%M:%S"), **found})
