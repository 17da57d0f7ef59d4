"""Every public call with forty kinds of wrong value: it works, or says in one line of our own why not, and nothing has changed."""

import array
import contextlib
import datetime
import decimal
import fractions
import math
import pathlib
import tempfile
from collections.abc import Callable, Collection, Iterator
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


REFUSES = "an object that refuses to be used"


class Hostile:
    """Raises when it is turned into a number."""

    def __float__(self) -> float:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        return "Hostile()"


class Hostiler(dict):  # type: ignore[type-arg]
    """Raises whatever is done with it, printing included."""

    def _raise(self, *_: Any, **__: Any) -> Any:
        raise ZeroDivisionError(REFUSES)

    __len__ = __iter__ = __getitem__ = __contains__ = keys = items = values = get = copy = _raise  # type: ignore[assignment]
    __eq__ = __float__ = __index__ = __bool__ = __array__ = __call__ = __repr__ = __str__ = __format__ = _raise  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Unequal:
    """Hashable, and raises when compared or printed."""

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError(REFUSES)

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        raise ZeroDivisionError(REFUSES)

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(REFUSES)


VALUES: dict[str, Any] = {
    "None": None, "True": True, "0": 0, "-1": -1, "1e400 as int": 10**400, "2**63": 2**63, "-2**64": -(2**64), "5000 digits": 10**5000,
    "0.5": 0.5, "NaN": math.nan, "inf": math.inf, "-inf": -math.inf, "-0.0": -0.0, "5e-324": 5e-324, "1e308": 1e308, "complex": 1 + 2j,
    "empty text": "", "text": "x", "surrogate": "\ud800", "NUL": "a\0b", "a long text": "y" * 10**5, "bytes": b"x",
    "bytearray": bytearray(3), "empty list": [], "list": [1, "a", None], "nested": [[[]]], "deep": deep(), "empty dict": {},
    "dict": {"a": {"b": {"c": 1}}}, "dict of odd keys": {1: 2, (1, 2): 3, None: 4}, "set": {1, 2}, "tuple": (),
    "array": np.zeros((2, 2, 2)), "empty array": np.zeros((0, 3)), "objects": np.array([object()]), "NaN array": np.array([[math.nan]]),
    "date": datetime.date(2020, 1, 1), "datetime": datetime.datetime(9999, 12, 31), "timedelta": datetime.timedelta.max,
    "decimal": decimal.Decimal("sNaN"), "fraction": fractions.Fraction(1, 3), "function": len, "class": int, "object": object(),
    "hostile": Hostile(), "hostiler": Hostiler(a=1), "unequal": Unequal(),
    "array.array": array.array("d", [1.0]), "masked": np.ma.masked, "NaT": np.datetime64("NaT"),
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
        "decide(id)": lambda b, v: b.decide(items, id=v),
        "decide(defer)": lambda b, v: b.decide(items, defer=v),
        "decide(show)": lambda b, v: b.decide(items, show=v),
        "decide(learn)": lambda b, v: b.decide(items, learn=v),
        "activate": lambda b, v: b.activate(v),
        **{f"fit({name})": _fitted(name) for name in ("item", "reward", "time", "propensity", "weight", "id", "repeats", "context",
           "item_features", "exact", "tail", "scheduler")},
        "decide_batch(offers)": lambda b, v: b.decide_batch(frame(), offers=v),
        "decide_batch(time)": lambda b, v: b.decide_batch(frame(), offers=["a"], time=v),
        "decide_batch(context)": lambda b, v: b.decide_batch(frame(), offers=["a"], context=v),
        "value(against)": lambda b, v: b.value(v),
        "value(item)": lambda b, v: b.value(item=v),
        "value(alpha)": lambda b, v: b.value(alpha=v),
        "challenge(name)": lambda b, v: b.challenge(v),
        "challenge(policy)": lambda b, v: b.challenge("rival", v),
        "challenge(features)": lambda b, v: b.challenge("rival", features=v),
        "challenge(half_life)": lambda b, v: b.challenge("rival", half_life=v),
        "challenge(explore)": lambda b, v: b.challenge("rival", explore=v),
        "importance": lambda b, v: b.importance(entries=v),
        "explain": lambda b, v: b.explain(v),
        "promote": lambda b, v: b.promote(v),
        "drop_challenger": lambda b, v: b.drop_challenger(v),
        "merge": lambda b, v: b.merge(v),
        "from_parts": lambda b, v: b.from_parts(v),
        "save": lambda b, v: b.save(v) if not isinstance(v, str) or v != "x" else None,
        "backup": lambda b, v: b.backup(v) if not isinstance(v, str) or v != "x" else None,
    }  # fmt: skip


def frame() -> Any:
    """A log of two rows."""
    import pandas as pd

    return pd.DataFrame({"a": ["p", "q"], "b": [0.0, 1.0], "c": [1.0, 2.0]})


def _fitted(name: str) -> Callable[[Any, Any], Any]:
    return lambda b, v: b.fit(
        frame(), **({"item": "a", "reward": "b"} | ({"exact": False} if name == "tail" else {}) | {name: v})
    )


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
    if isinstance(problem, ZeroDivisionError) and str(problem) == REFUSES:
        return None  # the error of the object itself
    if not isinstance(problem, db.DriftBanditsError):
        return f"raw {type(problem).__name__}: {str(problem)[:100]}"
    if "\n" in str(problem).strip() or not str(problem):
        return f"not one line: {str(problem)[:100]!r}"
    if len(str(problem)) > 2000:
        return f"a line of {len(str(problem))} characters"
    return None


def attack_calls(
    make: Callable[[], Any], calls: str = "", kinds: Collection[str] = VALUES.keys()
) -> tuple[int, list[str]]:
    """Every call of a bandit whose name begins so, with every value; returns the number of attempts and what went wrong."""
    tried, wrong = 0, []
    bandit = make()
    for name, call in bandit_calls().items():
        for kind, value in VALUES.items():
            if not name.startswith(calls) or kind not in kinds:
                continue
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
