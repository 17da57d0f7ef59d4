"""The interface of a catalogue of loops; one implementation keeps them in SQLite files, the other in PostgreSQL."""

import re
from typing import Any, NamedTuple, Protocol

from ..bandit.durable import Durable
from ..bandit.follower import Follower
from .problems import Problem
from .settings import LoopSettings

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Entry(NamedTuple):
    """The settings of a loop, a mark that differs whenever they were changed, and which loop of this name it is."""

    settings: LoopSettings
    mark: object
    identity: object  # differs when a loop was deleted and made anew


class Catalogue(Protocol):
    """The loops of a service. Every method may be called from any thread and any process."""

    def names(self) -> list[str]:
        """All loops, sorted."""

    def entry(self, name: str) -> Entry:
        """The settings of a loop as they are now; 404 if there is none."""

    def create(self, name: str, settings: LoopSettings, start: bytes | None = None) -> bool:
        """Make a loop, whole or not at all, which begins with what a saved bandit knows; False if there is one."""

    def update(self, name: str, settings: LoopSettings) -> None:
        """Keep changed settings."""

    def remove(self, name: str) -> str:
        """Move a loop out of the way instead of deleting its data; returns the new place."""

    def learner(self, name: str, settings: LoopSettings) -> Durable:
        """Open a loop to learn; `HasLearner` if another process does."""

    def follower(self, name: str) -> Follower:
        """Open a loop to decide with the snapshots of the learner; `InvalidState` if there is none yet."""

    def still_learns(self, name: str, bandit: Durable) -> bool:
        """Whether this process still holds the lock of a loop that it learns; it is taken again where it was lost and is free."""

    def note(self, name: str, key: str) -> dict[str, Any] | None:
        """What a protocol keeps about a loop under a key, as JSON; None if there is nothing."""

    def notes(self, name: str, prefix: str) -> list[str]:
        """The keys that begin with a prefix, sorted."""

    def keep_note(self, name: str, key: str, note: dict[str, Any] | None) -> None:
        """Keep a note in place of the one before; None: forget it. A key has at most 500 letters, digits, '-' and '_'."""

    def ready(self) -> None:
        """Raise, in one line, if loops can not be read and written now."""

    def close(self) -> None:
        """Close the connections that loops share."""


def checked_name(name: str) -> str:
    """The name of a loop, which is a part of addresses and of file names."""
    if not NAME.fullmatch(name):
        raise Problem(
            422,
            "invalid",
            "a loop is named by 1 to 100 letters, digits, '.', '_' and '-', of which the first is a letter or digit",
        )
    return name


def unknown(name: str) -> Problem:
    """The error (404) for a loop that does not exist."""
    return Problem(404, "unknown_loop", f"there is no loop {name!r}; PUT /loops/{name} makes it")
