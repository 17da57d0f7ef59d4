"""Conversion of a bandit to bytes and back, in the format of `driftbandits.io.saving`: arrays and JSON. Loading executes no code."""

import hashlib
import json
import math
import os
import pathlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.part_json import decode
from ..errors import CannotRead, DriftBanditsError, InvalidValue, said
from ..io import saving
from ..io.files import as_path, write_atomically
from ..io.saveable import INCONSISTENT
from . import ledger_files, pending_files
from .adaptive import Adaptive
from .arguments import Path
from .bandit import Bandit
from .challengers import Challenger, functions
from .diagonal import Diagonal
from .events import DriftEvent
from .learner import ENGINE, UNREFRESHED
from .pending import Pending
from .state import ALSO_COUNTED

B = TypeVar("B", bound=Bandit)
KIND = "Bandit"
STATE = (
    "_pending",
    "_tick",
    "_counts",
    "_oldest",
    "_newest",
    "_given",
    "_events",
    "_alarms",
    "_arrivals",
    "_fitted",
    "_unreported",
    "_learner",
    "_ledger",
    "_challengers",
    "_config",
    "_clocked",
)
DURABLE = b"SQLite format 3\0"  # how the file of `Bandit.open` begins
FIRST = "driftbandits.Bandit"  # where files of the first versions have their JSON; they have no checksum


class EarlierLearner(CannotRead):
    """The file is of a version whose learner kept other sums. If its log is known, it can be learned again."""


def save(bandit: Bandit, path: Path) -> None:
    """Write the file, whole or not at all; never over a durable bandit, whose log exists nowhere else."""
    if _durable(as_path(path)):
        raise InvalidValue(f"{os.fspath(path)} is a durable bandit, and has a log; save to another path")
    write_atomically(path, to_bytes(bandit))


def load(path: Path, features: Any, strategy: Any, on_drift: Any) -> Bandit:
    """Read the file, whole or not at all."""
    if _durable(as_path(path)):
        raise CannotRead(f"{os.fspath(path)} is a durable bandit, not a saved one; Bandit.open opens it")
    try:
        data = pathlib.Path(as_path(path)).read_bytes()
    except OSError as problem:
        raise CannotRead(f"{os.fspath(path)} cannot be read: {problem.strerror}") from None
    return from_bytes(data, os.fspath(path), features=features, strategy=strategy, on_drift=on_drift)


def _durable(path: str) -> bool:
    """Is it a file of `Bandit.open`? One that is open is not looked into: closing it again would end SQLite's locks in this process."""
    file = pathlib.Path(os.path.realpath(path))
    try:
        if not file.is_file() or file.with_name(f"{file.name}-wal").exists():
            return file.is_file()
        with file.open("rb") as content:
            return content.read(len(DURABLE)) == DURABLE
    except OSError:
        return False  # the reason is said when it is read or written


def copied(data: bytes, features: Any, strategy: Any, on_drift: Any) -> Bandit:
    """What `pickle` and `copy` make of a bandit in memory."""
    return from_bytes(data, "the copy", features=features, strategy=strategy, on_drift=on_drift, foreign=False)


@contextmanager
def undone_together(bandit: Bandit) -> Iterator[None]:
    """Many calls, or none: what goes wrong, or is interrupted, in one undoes all."""
    with bandit._turn():
        if bandit._together:
            yield
            return
        # Decisions that wait are many and never change: their tables are copied, and only the rest is written down.
        strategy, pending = getattr(bandit._learner, "strategy", None), bandit._pending.copy()
        before = to_bytes(bandit, Pending(pending.limit))
        try:
            bandit._together = True
            yield
            bandit._together = False
        except BaseException:
            bandit._together = False
            was = copied(before, bandit._function, strategy, bandit._on_drift)
            given = functions(bandit._challengers)
            bandit.__dict__ |= {name: getattr(was, name) for name in STATE} | {"_pending": pending}
            bandit._challengers |= given
            raise
    bandit._report_drift()


# ------------------------------------------------------------------------------------------------------------------ bytes


class Frozen(NamedTuple):
    """The state of a bandit at one moment: what the bandit does afterwards does not change it."""

    state: str  # JSON, without the decisions that wait
    arrays: dict[str, Any]
    pending: Pending

    def to_bytes(self, pause: Callable[[], None] = pending_files.no_pause) -> bytes:
        """Equal states give equal bytes. `pause` is called about every 2 ms, if many decisions wait."""
        about, waiting = pending_files.pack(self.pending, pause)
        text = f'{self.state[:-1]},"pending":{json.dumps(about)}}}'
        return saving.of_text(KIND, text, {**self.arrays, **waiting})


def to_bytes(bandit: Bandit, pending: Pending | None = None) -> bytes:
    """The whole state. `pending`: decisions that wait, in place of those of the bandit."""
    return Frozen(*_but_waiting(bandit), bandit._pending if pending is None else pending).to_bytes()


def freeze(bandit: Bandit) -> Frozen:
    """The state of now; decisions never change, so that only their tables are copied."""
    state, arrays = _but_waiting(bandit)
    return Frozen(state, {name: array.copy() for name, array in arrays.items()}, bandit._pending.copy())


def _but_waiting(bandit: Bandit) -> tuple[str, dict[str, Any]]:
    """JSON and arrays of everything except the pending decisions."""
    about, arrays = bandit._learner.pack()
    books, sums = ledger_files.pack(bandit._ledger)
    alarms, tested = bandit._alarms.pack()
    arrivals, came, ring = bandit._arrivals.pack()
    state = {
        "config": bandit._config,
        "tick": bandit._tick,
        "counts": bandit._counts,
        "newest": bandit._newest if math.isfinite(bandit._newest) else None,
        "oldest": bandit._oldest if math.isfinite(bandit._oldest) else None,
        "given": bandit._given,
        "events": [list(event) for event in bandit._events],
        "fitted": bandit._fitted,
        "learner": about,
        "ledger": books,
        "alarms": alarms,
        "arrivals": arrivals,
    }
    shadows = {name: c.shadow for name, c in bandit._challengers.items() if c.shadow is not None}
    state["challengers"] = [*shadows]
    suspended = {name: bandit._challengers[name].problem for name in shadows if bandit._challengers[name].problem}
    if suspended:
        state["suspended"] = suspended
    arrays |= {
        f"challenger.{i}": np.frombuffer(to_bytes(shadow), np.uint8) for i, shadow in enumerate(shadows.values())
    }
    held = {"ledger": sums, "alarms": tested, "arrivals": came, "arrivals.ring": ring}
    return saving.text_of(state), {**arrays, **held}


def digest(bandit: Bandit) -> str:
    """A fingerprint of what was learned and what waits, but for the ids, which are drawn from the system."""
    about, arrays = bandit._learner.pack()
    waiting = pending_files.Packer(bandit._pending)
    open_ = [row[1:] for part in waiting.open_rows() for row in part]
    deque(waiting.closed_rows(), maxlen=0)  # of these only the numbers
    plain = json.dumps([about, bandit._tick, bandit._counts, open_], sort_keys=True)
    mark = hashlib.sha256(plain.encode())
    for name in sorted(arrays):
        mark.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    mark.update(waiting.numbers().tobytes())
    known, numbers = bandit._alarms.pack()
    mark.update(json.dumps(known, sort_keys=True).encode() + numbers.tobytes())
    return mark.hexdigest()


def from_bytes(
    data: bytes,
    name: str,
    *,
    features: Any = None,
    strategy: Any = None,
    on_drift: Any = None,
    kind: type[B] = Bandit,  # type: ignore[assignment]
    again: bool = False,
    foreign: bool = True,
    waiting: bool = True,
) -> B:
    """The bandit of `to_bytes`, or one line that says why not; with `again` one of its settings that has learned nothing.

    foreign=False: the bytes were written a moment ago; if memory is short, they are not damaged. waiting=False: decisions that wait for a
    reward are counted (`Pending.unread`), not read.
    """
    try:
        state, arrays = _open(data)
        learner = state["learner"]
        if "wrapped" in learner:
            strategy = _strategy(learner, strategy)
        elif strategy is not None:
            raise CannotRead("it was made without strategy=…")
        bandit = kind(**_settings(dict(state["config"]), features), strategy=strategy, on_drift=on_drift)
        if again:
            return bandit
        bandit._tick, bandit._given = pending_files.as_tick(state["tick"]), bool(state["given"])
        bandit._counts = {key: int(state["counts"][key]) for key in bandit._counts}
        bandit._counts |= {key: int(state["counts"][key]) for key in ALSO_COUNTED if key in state["counts"]}
        bandit._newest = -math.inf if state["newest"] is None else float(state["newest"])
        bandit._oldest = _oldest(state)
        bandit._events = [DriftEvent(*event) for event in state["events"] if len(event) == len(DriftEvent._fields)]
        bandit._fitted = _fitted(state.get("fitted"))
        bandit._learner = _learner(bandit, learner, arrays)
        limit = bandit._config["max_pending"]
        if waiting:
            bandit._pending = pending_files.unpack(state["pending"], arrays, limit)
        else:
            bandit._pending = pending_files.counted(state["pending"], limit)
        for i, rival in enumerate(state.get("challengers", ())):
            held: Bandit = from_bytes(arrays[f"challenger.{i}"].tobytes(), name, features=features)
            held._watched = False
            bandit._challengers[str(rival)] = Challenger(str(rival), held)
            if rival in state.get("suspended", {}):
                bandit._challengers[str(rival)].problem = str(state["suspended"][rival])
        if "ledger" in state:  # not in files of 0.2.0
            ledger_files.unpack(bandit._ledger, state["ledger"], np.array(arrays["ledger"]))
        if "alarms" in state:  # not in files of 0.2.0
            bandit._alarms.unpack(state["alarms"], np.array(arrays["alarms"]))
            bandit._arrivals.unpack(state["arrivals"], np.array(arrays["arrivals"]), np.array(arrays["arrivals.ring"]))
    except CannotRead as problem:
        raise type(problem)(f"{name} cannot be loaded: {problem}") from None
    except DriftBanditsError as problem:
        raise CannotRead(f"{name} cannot be loaded: it is damaged, {problem}") from None
    except INCONSISTENT as problem:
        if isinstance(problem, MemoryError) and not foreign:
            raise
        wrong = f"{type(problem).__name__} in its state ({problem})"
        raise CannotRead(f"{name} cannot be loaded: it is damaged, {wrong}") from None
    return bandit


def _open(data: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """JSON and arrays of a file; everything in it is foreign."""
    try:
        return saving.from_bytes(data, KIND)
    except CannotRead:
        first = saving.metadata(data).get(FIRST)
        if first is None:
            raise
    state = json.loads(first)
    if not isinstance(state, dict) or state.get("format") != 1:
        raise CannotRead("it is damaged")
    return state, saving.arrays(data)


def _settings(config: dict[str, Any], features: Any) -> dict[str, Any]:
    """What `Bandit` was made with."""
    if config.pop("clocked"):
        config["half_life"] = f"{config['half_life']!r}s"
    if config["features"] == "function":
        if features is None:
            raise CannotRead(
                "it was made with a function of features; give it again with features=…: files hold no code"
            )
        config["features"] = features
    elif features is not None:
        raise CannotRead(f"it was made with features={config['features']!r}, not with a function")
    return config


def _oldest(state: Mapping[str, Any]) -> float:
    """The earliest time; ∞ if there is none yet, −∞ if a file of an earlier version does not say."""
    if state.get("oldest") is not None:
        return float(state["oldest"])
    return math.inf if state["newest"] is None else -math.inf


def _fitted(saved: Any) -> dict[str, Any] | None:
    """What is known of logs that were learned; files of earlier versions do not say."""
    if saved is None:
        return None
    counts = {key: int(saved[key]) for key in ("rows", "repeated", "exact_from")}
    return counts | {"marks": [str(mark) for mark in saved["marks"]]}


def _strategy(about: Mapping[str, Any], given: Any) -> Any:
    """The strategy in the file; one that is given must be the same."""
    saved = decode(about["wrapped"])
    if given is not None and given != saved:
        raise CannotRead(f"it was made with strategy={saved!r}, not with {given!r}")
    return saved


def _learner(bandit: Bandit, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    if "wrapped" in about:
        bandit._learner.restore(about, arrays)  # type: ignore[attr-defined]
        return bandit._learner
    if about.get("engine") not in (UNREFRESHED, ENGINE):
        raise EarlierLearner(
            "it was written by driftbandits 0.1 or 0.2, whose learner kept other sums; learn its log again (Bandit.fit)"
        )
    if "diagonal" in about:
        return Diagonal.unpack(about, arrays)
    mode = bandit._learner.mode  # type: ignore[attr-defined]
    if about["mode"] != mode:
        raise InvalidValue(f"its learner is for features={said(about['mode'])}, its settings are for {said(mode)}")
    return Adaptive.unpack(about, arrays)
