"""A cell is one learner on one stream with one seed. It is kept under everything that its numbers depend on."""

import functools
import hashlib
import importlib
import importlib.metadata
import json
import pathlib
import time

import numpy as np

from . import streams
from .peers import OURS, module

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@functools.cache
def version(name):
    """Of a peer, and of the NumPy below it; of ours, a digest of the code that decides. None if it is not installed."""
    if name in OURS:
        rooms = importlib.import_module("driftbandits.core.rooms")
        return f"{importlib.import_module('driftbandits').__version__}+{rooms.learner_digest()[:10]}"
    try:
        return importlib.metadata.version(module(name).PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def digest(*pieces):
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
    return digest(told.encode(), *(np.ascontiguousarray(a).tobytes() for a in arrays))


@functools.cache
def of_player(name):
    """Digest of how a learner is called, of its settings, and of how streams are played."""
    files = (HERE / "peers" / f"{name}_.py", HERE / "peers" / "__init__.py", HERE / "play.py")
    return digest(*(file.read_bytes() for file in files))


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


def name_of(key):
    """The short name of a key."""
    return digest(json.dumps(key, sort_keys=True).encode())


class Store:
    """Finished cells in a file, a line each; what failed is not in it and is tried again."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.cells = {line["cell"]: line for line in map(json.loads, lines)}

    def __contains__(self, key):
        return name_of(key) in self.cells

    def get(self, key):
        return self.cells.get(name_of(key))

    def add(self, key, found):
        self._append({"cell": name_of(key), "measured": time.strftime("%Y-%m-%dT%H:%M:%S"), **found})

    def take(self, committed):
        """Those of results/bench.json, as they are."""
        for cells in (c for found in committed["streams"].values() for c in found.values()):
            for cell in cells.values():
                if "cell" in cell and "failed" not in cell and cell["cell"] not in self.cells:
                    self._append(cell)

    def _append(self, line):
        self.cells[line["cell"]] = line
        with self.path.open("a") as lines:
            lines.write(json.dumps(line) + "\n")
