"""A cell is one learner on one stream with one seed. It is kept under everything that its numbers depend on, in a store as of studies."""

import functools
import hashlib
import importlib
import importlib.metadata
import pathlib
import time

import numpy as np

from driftbandits.core.rooms import learner_digest
from driftbandits.io.cell_store import JsonStore, digest

from . import streams
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
    files = (HERE / "peers" / f"{name}_.py", HERE / "peers" / "__init__.py", HERE / "play.py")
    return fingerprint(*(file.read_bytes() for file in files))


def wanted(names, scale, seeds):
    """The keys of all cells by learner, and why a stream is absent."""
    keys, absent = {name: [] for name in names}, {}
    for title, make in streams.catalogue(scale).items():
        try:
            # A real stream has three stretches: a further seed that plays one of them again is no further trial.
            found = list(dict.fromkeys(of_stream(make(seed)) for seed in range(seeds)))
        except streams.NotHere as problem:
            absent[title] = str(problem)
            continue
        for name in names:
            same = {"learner": name, "version": version(name), "numpy": np.__version__, "player": of_player(name)}
            for seed, rounds in enumerate(found):
                keys[name].append({**same, "stream": title, "scale": scale, "seed": seed, "rounds": rounds})
    return keys, absent


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

    def take(self, keys, committed):
        """Those of these keys that are in results/bench.json."""
        trees = [seeds for found in committed["streams"].values() for seeds in found.values()]
        cells = {cell.get("cell"): cell for seeds in trees for cell in seeds.values() if "failed" not in cell}
        for key in keys:
            if digest(key) in cells and key not in self:
                self.put(key, {name: value for name, value in cells[digest(key)].items() if name != "cell"})
