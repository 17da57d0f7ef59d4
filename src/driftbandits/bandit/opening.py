"""Opening a durable bandit: it is created if it does not exist, and then applies its log up to the end."""

import contextlib
import os
import pathlib
from typing import Any

from ..errors import CannotRead, InvalidState, InvalidValue, said
from ..io.files import as_path, take_lock
from .arguments import Path
from .bandit import Bandit
from .durable import Durable, newest_state
from .saving import from_bytes, to_bytes
from .sqlite_store import SQLiteStore
from .store import Store

DAMAGED = ("refuse", "set aside")


class HasLearner(InvalidState):
    """Another process is already the learner."""


def open_durable(path: Path, settings: dict[str, Any]) -> Durable:
    """The bandit in a file, made if it is not there."""
    name, sync, damaged = as_path(path), settings.pop("sync", "normal"), settings.pop("damaged", "refuse")
    start = _start(settings.pop("start", None), settings)
    if sync not in ("normal", "full"):
        raise InvalidValue(f"sync = {said(sync)} is not allowed; it must be 'normal' or 'full'")
    if damaged not in DAMAGED:
        raise InvalidValue(f"damaged = {said(damaged)} is not allowed; it must be 'refuse' or 'set aside'")
    asked = Durable(**settings)
    held = take_lock(f"{os.path.realpath(name)}.lock")
    if held is None:
        raise HasLearner(f"{name} is open for writing already; one process learns, others use Bandit.follow")
    try:
        store = SQLiteStore(name, sync=sync, learner=True)
    except BaseException:
        held.close()
        raise
    return open_with(store, held, asked, settings, damaged, start)


def open_with(
    store: Store,
    held: Any,
    asked: Durable,
    settings: dict[str, Any],
    damaged: str = "refuse",
    start: Durable | None = None,
) -> Durable:
    """The bandit in a store, made if it is not there; `held` is the lock of its learner, which is let go with `close()`."""
    try:
        bandit = _opened(store, asked, settings, start)
        bandit.begin(held, skip_damaged=damaged == "set aside")
    except BaseException:
        with contextlib.closing(held):
            store.close()
        raise
    return bandit


def _start(given: Any, settings: dict[str, Any]) -> Durable | None:
    """What a file that is made now begins with: a saved bandit, or a copy of one in memory."""
    if given is None:
        return None
    if isinstance(given, Bandit):
        with given._turn():
            data, name = to_bytes(given), repr(given)
    else:
        path = pathlib.Path(as_path(given))
        try:
            data, name = path.read_bytes(), str(path)
        except OSError as problem:
            raise CannotRead(f"{path} cannot be read: {problem.strerror}") from None
    return from_bytes(data, name, kind=Durable, **_code(settings))


def _opened(store: Store, asked: Durable, settings: dict[str, Any], start: Durable | None = None) -> Durable:
    """One transaction: tables, first snapshot and claim are made together, or a process that is killed leaves nothing."""
    code = _code(settings)
    with store.transaction():
        store.migrate()
        store.claim()
        found = newest_state(store, code)
        bandit = found[1] if found is not None else start or asked
        _same_settings(asked, bandit, settings, store.name)
        bandit.attach(store, code, None if found is None else found[0])
    return bandit


def _code(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that a file cannot hold."""
    features = settings.get("features")
    return {
        "features": None if isinstance(features, str) else features,
        "strategy": settings.get("strategy"),
        "on_drift": settings.get("on_drift"),
    }


def _same_settings(asked: Bandit, found: Bandit, settings: dict[str, Any], path: str) -> None:
    for name in settings:
        if name in asked._config and asked._config[name] != found._config[name]:
            raise InvalidValue(
                f"{path} was made with {name}={found._config[name]!r}, not {asked._config[name]!r}; leave it out, or use another file"
            )
