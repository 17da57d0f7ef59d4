"""`replay`: estimates the values of several policies in one pass over a log, each with its own copy."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidValue, integer, said
from ..util.tasks import OnDask
from .estimators import ESTIMATORS, LEAST
from .log import Log
from .result import Replay
from .shares import Share, joined, walked
from .walk import Progress
from .windows import windows

HISTORIES = ("log", "own")
INTERVALS = ("bootstrap", "always_valid")


def replay(
    policies: Mapping[str, Any],
    log: Log,
    *,
    estimators: Sequence[str] | str = ESTIMATORS,
    delay: str | None = "observed",
    by: Any = "day",
    rolling: int = 1,
    history: str = "log",
    interval: str = "bootstrap",
    seed: int = 0,
    progress: Progress | None = None,
    scheduler: str | None = None,
) -> Replay:
    """Estimate the value of policies from a log, over the whole log and for each window.

    Parameters
    ----------
    policies
        From names to policies: a `Bandit`, a strategy of the zoo, or any object with `decide(items, context, at)`, which returns an
        item's name (or probabilities by name), and, if it learns, `reward(item, reward, context, at)`. Each is copied.
    log
        From `Log.read`.
    estimators
        Some of "replay", "ips", "snips", "dr"; docs/replay.md lists their requirements. Estimators that the log does not allow are omitted,
        and `refused` gives the reason; if none is left, an error is raised.
    delay
        "observed": rewards reach the policy at the `reward_time` of the log (without it, at once); None: at once.
    by
        Windows: "hour", "day", "week", a duration like "6h", or a number of rows.
    rolling
        The number of consecutive windows that are combined into a rolling one.
    history
        What policies learn from in "ips", "snips" and "dr": "log", every row, whoever chose; or "own", only rows where they agree
        with the log, as in "replay".
    interval
        "bootstrap": for one look at the whole log; "always_valid": bounds of the whole log that hold at all times at once, so that one may
        look every day while the log grows: finite-sample if all rewards are in [0, 1], else asymptotic.
    seed
        Seed of the bootstrap, of the acceptance of rows in "replay", and of draws from the probabilities of a policy.
    progress
        Called repeatedly with the number of rows done and of all rows; with a scheduler once, at the end.
    scheduler
        Evaluate policies at the same time on Dask: "threads", "processes" or the address of a cluster, whose workers can read the
        files of the log. The result is the same to the last bit. By default one process evaluates all.

    Examples
    --------
    >>> import driftbandits as db, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> item = rng.choice(["a", "b"], 2000)
    >>> clicked = rng.random(2000) < np.where(item == "b", 0.3, 0.1)
    >>> log = db.Log.read(pd.DataFrame({"item": item, "clicked": clicked}), item="item", reward="clicked")
    >>> result = db.replay({"always b": lambda items, context, at: "b"}, log, estimators=("snips",))
    >>> round(result.estimate("always b").value, 1)
    0.3
    """
    asked = _checked(policies, estimators, history, delay)
    if interval not in INTERVALS:
        raise InvalidValue(f"interval = {interval!r} is not allowed; it must be 'bootstrap' or 'always_valid'")
    if not isinstance(log, Log):
        raise InvalidValue(f"log is of type {type(log).__name__}; it must come from db.Log.read(…)")
    rolling = integer("rolling", rolling, least=1, why="it is the number of windows that are taken together")
    seed = integer("seed", seed, least=0, why="it starts the bootstrap")
    clock = windows(by, log)
    refused: dict[Any, str] = {**_impossible(log, asked)}
    left = [name for name in asked if name not in refused]
    if not left:
        raise InvalidValue(next(iter(refused.values())))
    whole = Share(dict(policies), log, left, history, clock, delay == "observed", interval == "always_valid", seed)
    if scheduler is None:
        found = walked(whole, progress)
    else:
        run = OnDask(scheduler)
        found = joined(run(walked, [*whole.split(run.workers())]))
        if progress is not None:
            progress(len(log), len(log))
    return Replay(log, found.walks, asked, refused | found.refused, found.sums, clock, rolling, seed, found.valued)


def _checked(policies: Any, estimators: Any, history: str, delay: Any) -> tuple[str, ...]:
    if not isinstance(policies, Mapping) or not policies:
        raise InvalidValue("policies must be a dict from names to policies, with at least one")
    if not isinstance(estimators, str | Sequence):
        raise InvalidValue(
            f"estimators = {said(estimators)} is not allowed; it must be a list of {', '.join(ESTIMATORS)}"
        )
    asked = (estimators,) if isinstance(estimators, str) else tuple(estimators)
    for name in asked or ("",):
        if name not in ESTIMATORS:
            raise InvalidValue(f"estimator {name!r} is not known; it must be {', '.join(map(repr, ESTIMATORS))}")
    if history not in HISTORIES:
        raise InvalidValue(f"history = {history!r} is not allowed; it must be 'log' or 'own'")
    if delay not in ("observed", None):
        raise InvalidValue(f"delay = {delay!r} is not allowed; it must be 'observed' or None")
    return asked


def _impossible(log: Log, asked: Sequence[str]) -> dict[str, str]:
    """Estimators that the log does not allow for any policy, each with a one-line reason."""
    facts = log.facts
    if facts.impossible is not None:
        raise InvalidValue(
            f"{facts.impossible} has propensity 0: an item that was chosen cannot have probability 0, and weights would be infinite"
        )
    if facts.untrue is not None:
        left = f" ({facts.dropped} rows without a reward were left out)" if facts.dropped else ""
        raise InvalidValue(f"the propensities of {log.name} cannot be true: {facts.untrue}{left}")
    if facts.crooked is not None:
        why = f"{log.name} has no propensities, and its choices are not uniform: {facts.crooked}; give propensity=…"
        return dict.fromkeys(asked, why)
    kept = facts.least * facts.rows
    if "replay" in asked and kept < LEAST:
        return {
            "replay": f"replay would keep about {kept:.0f} of {facts.rows} rows, because the smallest propensity is "
            f"{facts.least:.2g}; use 'ips', 'snips' or 'dr'"
        }
    return {}
