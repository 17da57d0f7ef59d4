"""Every public call with forty kinds of wrong value: it works, or says in one line of our own why not, and nothing has changed."""

import array
import contextlib
import datetime
import decimal
import fractions
import math
import pathlib
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.bandit.saving import digest


def deep() -> Any:
    """Nested too deeply for any recursion."""
    value: Any = 1.0
    for _ in range(5000):
        value = [value]
    return value


class Hostile:
    """Raises whatever is done with it."""

    def __float__(self) -> float:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        return "Hostile()"


VALUES: dict[str, Any] = {
    "None": None, "True": True, "0": 0, "-1": -1, "1e400 as int": 10**400, "2**63": 2**63, "-2**64": -(2**64), "5000 digits": 10**5000,
    "0.5": 0.5, "NaN": math.nan, "inf": math.inf, "-inf": -math.inf, "-0.0": -0.0, "5e-324": 5e-324, "1e308": 1e308, "complex": 1 + 2j,
    "empty text": "", "text": "x", "surrogate": "\ud800", "NUL": "a\0b", "a long text": "y" * 10**5, "bytes": b"x",
    "bytearray": bytearray(3), "empty list": [], "list": [1, "a", None], "nested": [[[]]], "deep": deep(), "empty dict": {},
    "dict": {"a": {"b": {"c": 1}}}, "dict of odd keys": {1: 2, (1, 2): 3, None: 4}, "set": {1, 2}, "tuple": (),
    "array": np.zeros((2, 2, 2)), "empty array": np.zeros((0, 3)), "objects": np.array([object()]), "NaN array": np.array([[math.nan]]),
    "date": datetime.date(2020, 1, 1), "datetime": datetime.datetime(9999, 12, 31), "timedelta": datetime.timedelta.max,
    "decimal": decimal.Decimal("sNaN"), "fraction": fractions.Fraction(1, 3), "function": len, "class": int, "object": object(),
    "hostile": Hostile(), "array.array": array.array("d", [1.0]), "masked": np.ma.masked, "NaT": np.datetime64("NaT"),
    "path": pathlib.Path("/nowhere/at/all"),
}  # fmt: skip
SETTINGS = (
    *("reward", "features", "half_life", "explore", "seed", "strategy", "on_repeat", "on_drift"),
    *("buckets", "max_items", "max_pending"),
)


def bandit_calls() -> dict[str, Callable[[Any, Any], Any]]:
    """Each argument of each call of a bandit."""
    items = {"a": {"x": 1.0}, "b": {"x": 2.0}}
    return {
        "decide(items)": lambda b, v: b.decide(v),
        "decide(names)": lambda b, v: b.decide([v]),
        "decide(features)": lambda b, v: b.decide({"a": v, "b": v}),
        "decide(value)": lambda b, v: b.decide({"a": {"x": v}}),
        "decide(feature name)": lambda b, v: b.decide({"a": {_key(v): 1.0}}),
        "decide(context)": lambda b, v: b.decide(items, v),
        "decide(context value)": lambda b, v: b.decide(items, {"q": v}),
        "decide(at)": lambda b, v: b.decide(items, at=v),
        "decide(mask)": lambda b, v: b.decide(items, mask=v),
        "decide(k)": lambda b, v: b.decide(items, k=v),
        "reward(decision)": lambda b, v: b.reward(v, 1.0),
        "reward(reward)": lambda b, v: b.reward(b.decide(items).id, v),
        "reward(dict)": lambda b, v: b.reward(b.decide(items).id, {_key(v): v}),
        "reward(at)": lambda b, v: b.reward(b.decide(items).id, 1.0, at=v),
        "reward(weight)": lambda b, v: b.reward(b.decide(items).id, 1.0, weight=v),
        "reward(log)": lambda b, v: b.reward({**db.Bandit().decide(items).to_dict(), "tick": v}, 1.0),
        "reward(log id)": lambda b, v: b.reward({**db.Bandit().decide(items).to_dict(), "id": v}, 1.0),
        "reward(log items)": lambda b, v: b.reward({**db.Bandit().decide(items).to_dict(), "items": [v]}, 1.0),
        "reward(log features)": lambda b, v: b.reward({**db.Bandit().decide(items).to_dict(), "features": v}, 1.0),
        "observe(item)": lambda b, v: b.observe(v, reward=1.0),
        "observe(reward)": lambda b, v: b.observe("a", reward=v),
        "observe(propensity)": lambda b, v: b.observe("a", reward=1.0, propensity=v),
        "observe(name)": lambda b, v: b.observe({"x": 1.0}, reward=1.0, name=v),
        "expire(older_than)": lambda b, v: b.expire(v),
        "expire(reward)": lambda b, v: b.expire(0.0, v),
        "expire(at)": lambda b, v: b.expire(0.0, at=v),
        "drop": lambda b, v: b.drop(v),
        "forget_feature": lambda b, v: b.forget_feature(v),
        "estimate": lambda b, v: b.estimate(v),
        "fit": lambda b, v: b.fit(v, item="a", reward="b"),
        "decide_batch": lambda b, v: b.decide_batch(v, offers=["a"]),
        "reward_batch": lambda b, v: b.reward_batch(v),
        "save": lambda b, v: b.save(v) if not isinstance(v, str) or v != "x" else None,
        "backup": lambda b, v: b.backup(v) if not isinstance(v, str) or v != "x" else None,
    }  # fmt: skip


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return "unhashable"
    return value


def _maker(name: str) -> Callable[[Any], Any]:
    return lambda value: db.Bandit(**{name: value})


def makers() -> dict[str, Callable[[Any], Any]]:
    """What makes a bandit, a follower, a log, with one argument wrong."""
    made: dict[str, Callable[[Any], Any]] = {f"Bandit({n})": _maker(n) for n in SETTINGS}
    made |= {
        "open(path)": lambda v: None if isinstance(v, str) and v == "x" else db.Bandit.open(v).close(),
        "follow(path)": lambda v: db.Bandit.follow(v).close(),
        "load(path)": lambda v: db.Bandit.load(v),
        "Log.read": lambda v: list(db.Log.read(v)),
    }
    return made


@contextlib.contextmanager
def in_a_folder() -> Iterator[pathlib.Path]:
    """Whatever is written goes into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield pathlib.Path(folder)


def one_line(problem: BaseException) -> str | None:
    """Why an error is not one of ours in one line; None if it is."""
    if not isinstance(problem, db.DriftBanditsError):
        return f"raw {type(problem).__name__}: {str(problem)[:100]}"
    if "\n" in str(problem).strip() or not str(problem):
        return f"not one line: {str(problem)[:100]!r}"
    if len(str(problem)) > 2000:
        return f"a line of {len(str(problem))} characters"
    return None


def attack_calls(make: Callable[[], Any]) -> tuple[int, list[str]]:
    """Every call of a bandit with every value; returns the number of attempts and what went wrong."""
    tried, wrong = 0, []
    bandit = make()
    for name, call in bandit_calls().items():
        for kind, value in VALUES.items():
            tried += 1
            changing = name not in ("save", "backup") and "reward(" not in name
            before = digest(bandit) if changing else ""
            try:
                call(bandit, value)
            except BaseException as problem:
                why = one_line(problem)
                if why is None and changing and digest(bandit) != before:
                    why = "refused, and changed the state"
                if why is not None:
                    wrong.append(f"{name} with {kind}: {why}")
    return tried, wrong


def attack_makers() -> tuple[int, list[str]]:
    """Every way to make one."""
    tried, wrong = 0, []
    for name, make in makers().items():
        for kind, value in VALUES.items():
            tried += 1
            try:
                make(value)
            except BaseException as problem:
                why = one_line(problem)
                if why is not None:
                    wrong.append(f"{name} with {kind}: {why}")
    return tried, wrong
