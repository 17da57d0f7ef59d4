"""Which folders (and top-level modules) of this package hold compiled code, and on which the result of a simulation depends.

This is the only list. The cache names a folder of machine code by a digest of the sources that may be inlined into it, and an
experiment names a finished trial by a digest of the sources that its result depends on. Both read this table, so that editing a plot
recompiles nothing and repeats no trial. `tests/unit/core/test_rooms.py` checks that every folder is listed and that no kernel is defined
in a folder that is listed as not compiled.
"""

import functools
import hashlib
import pathlib
from collections.abc import Collection
from typing import NamedTuple

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


class Room(NamedTuple):
    """The uses of the code in a folder.

    `compiled`: the code may be inlined into machine code. `apart`: only into entries whose own parts come from the same folder, so that
    editing it does not invalidate the machine code of all others. `decides`: the result of a simulation may depend on it.
    """

    compiled: bool = False
    apart: bool = False
    decides: bool = False


KERNELS = Room(compiled=True, decides=True)
WORKS = Room(decides=True)  # Python code that runs while a result is computed
ASIDE = Room()

ROOMS = {
    "__init__.py": ASIDE,
    "errors.py": WORKS,
    "strategy.py": KERNELS,
    "testing.py": ASIDE,
    "core": KERNELS,
    "protocol": KERNELS,
    "links": KERNELS,
    "sums": KERNELS,
    "memory": KERNELS,
    "model": KERNELS,
    "radius": KERNELS,
    "rule": KERNELS,
    "adaptive": KERNELS,
    "alarms": Room(compiled=True, apart=True),
    "meta": KERNELS,
    "env": KERNELS,
    "simulate": Room(compiled=True, apart=True, decides=True),
    "agent": Room(compiled=True, apart=True),
    "mdp": Room(compiled=True, apart=True, decides=True),
    "bandit": Room(compiled=True, apart=True),
    "zoo": WORKS,
    "theory": WORKS,
    "features": ASIDE,
    "datasets": WORKS,
    "inference": Room(compiled=True, apart=True),
    "util": ASIDE,
    "io": ASIDE,
    "tables": ASIDE,
    "replay": ASIDE,
    "experiment": ASIDE,
    "driftbench": ASIDE,
    "plots": ASIDE,
    "lab": ASIDE,
    "service": ASIDE,
    "integrations": ASIDE,
    "cli": ASIDE,
}

APART = frozenset(name for name, room in ROOMS.items() if room.apart)


@functools.cache
def compiled_digest(apart: frozenset[str]) -> str:
    """The digest of all sources that may be compiled; of the folders marked `apart`, only those given are included."""
    return _digest({name for name, room in ROOMS.items() if room.compiled} - (APART - apart))


@functools.cache
def result_digest(also: frozenset[str] = frozenset()) -> str:
    """The digest of all sources on which the result of a simulation may depend, and of the rooms in `also`."""
    return _digest({name for name, room in ROOMS.items() if room.decides} | also)


@functools.cache
def learner_digest() -> str:
    """The digest of all sources on which a learner's decisions may depend, in a simulation or behind `Agent` and `Bandit`."""
    return _digest({name for name, room in ROOMS.items() if room.compiled or room.decides})


def _digest(rooms: Collection[str]) -> str:
    sources = sorted(p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] in rooms)
    return hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()


def rooms_apart(modules: Collection[str]) -> frozenset[str]:
    """The folders marked `apart` that contain these modules, given by their full names."""
    split = [name.split(".") for name in modules]
    return frozenset(m[1] for m in split if m[0] == PACKAGE.name and len(m) > 1 and m[1] in APART)
