"""Forged files: everything that is saved, with one thing in it changed and every checksum made to fit.

What a file says is refused in one line of ours, or is a state that works: it decides, learns and is saved, and what was saved is loaded
as the same. Each is tried in a fork with limits, where it may crash or take memory.
"""

import copy
import json
import math
import os
import pathlib
import resource
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.bandit.pending_files import ROWS
from driftbandits.io import saving
from torture.saved_things import Content, Forgery, kinds

Result = tuple[int, list[str]]
MEMORY = 4 << 30  # bytes of address space
SECONDS = 120  # of CPU, interpreted

# ------------------------------------------------------------------------------------------------------------------ forging

LEAVES = (
    0,
    -1,
    1,
    2,
    10**9,
    2**63,
    10**30,
    None,
    "x",
    "",
    [],
    {},
    True,
    0.5,
    -0.5,
    1e300,
    1e-300,
    [1, 2],
    {"a": 1},
    "\ud800",
)
FACTORS = (0.0, -1.0, 1e300, 1e-300, 1.5, math.nan, math.inf)


def forge(content: Content, rng: np.random.Generator) -> tuple[Content, str]:
    """A content in which one thing is something else, and what."""
    about, arrays = copy.deepcopy(content.about), dict(content.arrays)
    if arrays and rng.random() < 0.5:
        return Content(about, arrays), _forge_array(arrays, rng)
    return Content(about, arrays), _forge_json(about, rng)


def _forge_array(arrays: dict[str, Any], rng: np.random.Generator) -> str:
    name = str(rng.choice(sorted(arrays)))
    array = np.array(arrays[name])
    if _holds_a_file(name) and rng.random() < 0.9:
        inner, what = forge(Content(*saving.from_bytes(array.tobytes(), "Bandit")), rng)
        arrays[name] = np.frombuffer(saving.to_bytes("Bandit", *inner), np.uint8)
        return f"{name}: {what}"
    if name == ROWS and rng.random() < 0.9:
        rows = json.loads(array.tobytes())
        what = _forge_json(rows, rng)
        arrays[name] = np.frombuffer(json.dumps(rows).encode(), np.uint8)
        return f"{name}: {what}"
    ways: dict[str, Callable[[], Any]] = {
        "empty": lambda: array[:0],
        "one less": lambda: array[:-1],
        "twice": lambda: np.concatenate([array, array]) if array.ndim else np.array([array, array]),
        "flat": lambda: array.ravel(),
        "another type": lambda: array.astype(rng.choice(["<f4", "<f8", "<i8", "u1", "?"])),
        "scaled": lambda: array * rng.choice(FACTORS) if array.dtype.kind == "f" else array + 1,
        "one number": lambda: _with_one(array, rng),
        "transposed": lambda: array.T.copy(),
        "another axis": lambda: array[None],
    }
    if rng.random() < 0.1:
        del arrays[name]
        return f"{name} gone"
    way = str(rng.choice(sorted(ways)))
    with np.errstate(all="ignore"):
        arrays[name] = np.ascontiguousarray(ways[way]())
    return f"{name} {way}"


def _holds_a_file(name: str) -> bool:
    return name.startswith(("challenger.", "state "))


def _with_one(array: Any, rng: np.random.Generator) -> Any:
    array = array.copy()
    if array.size:
        place = int(rng.integers(array.size))
        if array.dtype.kind == "f":
            array.reshape(-1)[place] = rng.choice([0.0, -1.0, 1e300, -1e300, math.nan, math.inf, 2.0**40])
        elif array.dtype.kind in "iu":
            low, high = (0, 255) if array.dtype.itemsize == 1 else (-(2**31), 2**31 - 1)
            array.reshape(-1)[place] = int(rng.choice([0, 1, high, low, int(rng.integers(low, high))]))
        else:
            array.reshape(-1)[place] = not array.reshape(-1)[place]
    return array


def _forge_json(about: Any, rng: np.random.Generator) -> str:
    """One leaf becomes something else, or goes, or is there twice."""
    node, path = about, []
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return "nothing"
        key = keys[int(rng.integers(len(keys)))]
        path.append(str(key))
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.93:
            node = node[key]
            continue
        way, where = rng.random(), "/".join(path)
        if way < 0.1:
            del node[key]
            return f"{where} gone"
        if way < 0.2 and isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
            return f"{where} twice"
        if way < 0.4 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] = node[key] + int(rng.choice([-1, 1]))
        else:
            node[key] = LEAVES[int(rng.integers(len(LEAVES)))]
        return f"{where} = {node[key]!r}"


# ------------------------------------------------------------------------------------------------------------------- trying


def forged_files(seed: int, _: float) -> Iterator[Result]:
    """In turn one of each kind."""
    rng, all_ = np.random.default_rng(seed), kinds()
    for kind in all_:  # a file that nobody forged works
        yield try_one(kind, kind.content, "as it is")
    while True:
        for kind in all_:
            try:
                content, what = forge(kind.content, rng)
                kind.data(content)
            except (sqlite3.Error, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                continue  # cannot be written
            yield try_one(kind, content, what)


def try_one(kind: Forgery, content: Content, what: str) -> Result:
    """In a child, which may crash or take memory."""
    data = kind.data(content)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_tried(kind, data, writing))
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as said:
        problem = said.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 1, [f"{kind.name}: {what}: {problem or f'died with {code}'}"] if code else []


def _tried(kind: Forgery, data: bytes, writing: int) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        kind.use(data)
        return 0
    except db.DriftBanditsError as problem:
        if "\n" not in str(problem).strip() and len(str(problem)) < 2000:
            return 0
        os.write(writing, f"not one line: {str(problem)[:300]!r}".encode())
    except BaseException as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        where = f"{pathlib.Path(last.filename).name}:{last.lineno}"
        os.write(writing, f"{type(problem).__name__} at {where}: {problem}"[:500].encode("utf-8", "replace"))
    return 2
