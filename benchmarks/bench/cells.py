"""A cell is one learner with one setting on the rounds of one seed, kept under everything that its numbers depend on.

The cells of a learner are a table in a file that belongs to the repository, so that nobody has to play a peer of the same version again:

    # {"learner": …, "version": …, "numpy": …, "player": …}
    stream,which,rounds,setting,reward,random,best,micros
    clicks 5 %,17,0123456789,0,0.0731,0.0499,0.0842,211
    clicks 5 %,tune 0.3,…

`which` is the seed, or which of the rounds that may be tuned on; `rounds` is a digest of every one of them. With another first line
the file is of no use and begins anew with the next cell; with other rounds or another setting a line is not found.
"""

import csv
import functools
import hashlib
import importlib
import importlib.metadata
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np

from driftbandits.core.rooms import learner_digest

from . import play, streams
from .peers import OURS, module

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NUMBERS = ("reward", "random", "best", "micros")


@functools.cache
def version(name):
    """Of a peer; of ours, with a digest of the code that decides. None if it is not installed."""
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


class Rounds(NamedTuple):
    """The rounds of one seed, or some that may be tuned on."""

    title: str
    which: str
    seed: int  # of the learner that plays them
    stream: Any
    digest: str

    def key(self, setting):
        return (self.title, self.which, self.digest, str(setting))


class Seed(NamedTuple):
    """What counts, and what may be tuned on before."""

    rounds: Rounds
    tuning: list


def present(scale):
    """The streams whose data are on this machine, and why others are absent."""
    here, absent = {}, {}
    for title, source in streams.catalogue(scale).items():
        try:
            source.make(0)
            here[title] = source
        except streams.NotHere as problem:
            absent[title] = str(problem)
    return here, absent


def seeds(title, source, first=0, last=None):
    """Every seed of a stream, one after the other: the rounds are made once, for all learners."""
    other = {}
    for seed in range(first, source.seeds if last is None else min(last, source.seeds)):
        away = seed if source.fixed else 0
        if away not in other:
            made = [(f"tune {away}.{k}", k, stream) for k, stream in enumerate(source.tuning(away))]
            other = {away: [Rounds(title, which, k, stream, of_stream(stream)) for which, k, stream in made]}
        stream = source.make(seed)
        yield Seed(Rounds(title, str(seed), seed, stream, of_stream(stream)), other[away])


def chosen(name, seed, store):
    """The setting that earns most where one may tune, the documented one of equals; None while cells are missing or there is no choice."""
    many = len(module(name).SETTINGS)
    found = [[store.found(rounds.key(setting)) for rounds in seed.tuning] for setting in range(many)]
    if many == 1 or any(cell is None for row in found for cell in row):
        return None
    return int(np.argmax([np.mean([play.share(cell) for cell in row]) for row in found]))


class Store:
    """The finished cells of one learner; what failed is not among them and is tried again."""

    def __init__(self, folder, name):
        self._file = pathlib.Path(folder) / f"{name}.csv"
        told = {"learner": name, "version": version(name), "numpy": np.__version__, "player": of_player(name)}
        self._head = f"# {json.dumps(told)}"
        lines = self._file.read_text().split("\n") if self._file.exists() else [""]
        self._begun = lines[0] == self._head
        self._cells, whole = {}, len(NUMBERS) + 4
        for row in csv.reader(lines[2:] if self._begun else []):
            if len(row) == whole:  # the last line of a run that was killed may be half a line
                numbers = zip(NUMBERS, row[4:], strict=True)
                self._cells[tuple(row[:4])] = {what: float(number) for what, number in numbers if number}

    def __contains__(self, key):
        return key in self._cells

    def found(self, key):
        """A finished cell, or None. One without a reward was stopped because it took too long."""
        return self._cells.get(key)

    def add(self, key, found):
        if not self._begun:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(f"{self._head}\nstream,which,rounds,setting,{','.join(NUMBERS)}")
            self._begun = True
        numbers = [f"{found[what]:.7g}" if what in found else "" for what in NUMBERS]
        with self._file.open("a", newline="") as file:
            file.write("\n")  # before, not after: it ends what a killed run left
            csv.writer(file, lineterminator="").writerow([*key, *numbers])
        self._cells[key] = {what: float(number) for what, number in zip(NUMBERS, numbers, strict=True) if number}
