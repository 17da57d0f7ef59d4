"""The interface of the store that keeps the log of a durable bandit, and the guarantees that every database must give.

The state of a bandit is a function of its log, of the rows up to a number `seq`. A *snapshot* is that state, so opening reads the newest
snapshot and applies the rows after it. Every process may append rows; one, the *learner*, applies them.

What a store guarantees (`sqlite_store` is the first; each of these has a test in tests/unit/bandit/test_store.py):

1. Rows are numbered 1, 2, 3, … in the order in which their transactions commit; a number is never used again.
2. A transaction is kept as a whole or not at all, whatever happens to the process. Only one transaction writes at a time.
3. One decision has one row of each kind "decide", "activate" and "reward": a second raises `Repeated`, and the transaction goes on.
4. A row or a snapshot that was changed after it was written is refused by name (`CannotRead`).
5. The learner is the process that called `claim` last: `transaction(learner=True)` of any other is refused.
"""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

try:
    import orjson as fast
except ImportError:
    fast = None  # type: ignore[assignment]

from ..errors import CannotRead, DriftBanditsError, InvalidState, InvalidValue, said
from .arguments import Path
from .values import plain

T = TypeVar("T")
KINDS = ("decide", "activate", "reward", "replace", "observe", "expire", "drop", "forget")
ASIDE = "aside"  # the kind that a row set aside is read with
COLUMNS = ("kind", "id", "at", "item", "propensity", "reward", "weight", "writer", "data")


class Repeated(DriftBanditsError):
    """A second decision or a second reward under one id."""


class Superseded(InvalidState):
    """Another process has become the learner since."""


class StoreUnavailable(DriftBanditsError, ConnectionError):
    """The database cannot be reached now; the call has changed nothing that it acknowledged, and may be repeated."""


class Busy(StoreUnavailable):
    """Another process writes now, and `Store.patience` is over; nothing was changed."""


class Damaged(CannotRead):
    """A row that was changed, or lost, after it was written."""

    def __init__(self, seq: int, problem: str) -> None:
        self.seq = seq
        super().__init__(f"{problem}; restore a backup, or give it up with Bandit.open(…, damaged='set aside')")


class Row(NamedTuple):
    """One row of the log."""

    seq: int
    kind: str  # one of KINDS
    id: str | None  # of the decision
    at: float | None  # seconds since 1970
    item: str | None  # JSON: the item chosen
    propensity: float | None
    reward: float | None
    weight: float | None
    writer: str | None  # the process that wrote it
    data: str | None  # JSON: features, context, rankings

    def checksum(self) -> int:
        """32 bits over all columns as text; any database can keep them, and any single flipped bit changes them.

        Numbers must be floats, and zero without a sign: databases turn −0 into 0.
        """
        seq, kind, id_, at, item, propensity, reward, weight, writer, data = self
        text = f"{seq}|{kind}|{id_}|{at}|{item}|{propensity}|{reward}|{weight}|{writer}|{data}"
        return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def as_row(seq: int, kind: str, given: Mapping[str, Any], writer: str) -> Row:
    """A row to be written, as databases keep it: see `Row.checksum`."""
    get = given.get
    at, propensity, reward, weight = get("at"), get("propensity"), get("reward"), get("weight")
    data = get("data")
    return Row(
        seq,
        kind,
        get("id"),
        None if at is None else float(at) + 0.0,
        get("item"),
        None if propensity is None else float(propensity) + 0.0,
        None if reward is None else float(reward) + 0.0,
        None if weight is None else float(weight) + 0.0,
        writer,
        None if data is None else dumps(data),
    )


def snapshot_checksum(seq: int, state: bytes) -> int:
    """32 bits over a snapshot and the row it was taken after."""
    return zlib.crc32(state, zlib.crc32(b"%d|" % seq))


def in_sequence(name: str, found: Sequence[Any], aside: set[int], after: int, deleted: int = 0) -> list[Row]:
    """Rows with their checksums, as a database gave them: whole, and without a gap but for rows up to `deleted`, which may be gone.

    Those set aside have the kind ASIDE.
    """
    rows, expected = [], after + 1
    for values in found:
        seq = values[0]
        if seq not in aside:
            row = intact(name, values)
            if expected <= deleted:
                expected = min(seq, deleted + 1)
            while expected in aside:
                expected += 1
            if seq != expected:
                raise Damaged(expected, f"row {expected} of the log of {name} is missing")
        elif seq == expected:
            row = Row(seq, ASIDE, *values[2:-1])
        else:
            continue  # a damaged number: it belongs nowhere
        rows.append(row)
        expected += 1
    return rows


def intact(name: str, found: Any) -> Row:
    """A row whose checksum fits; rows of format 1 have none."""
    row = Row(*found[:-1])
    if found[-1] is not None and found[-1] != row.checksum():
        raise Damaged(row.seq, f"row {row.seq} of the log of {name} is damaged: its checksum does not fit")
    return row


def as_id(id_: Any) -> str:
    """The id of a decision, which a database can look for."""
    if not isinstance(id_, str):
        raise InvalidValue(f"{said(id_)} is no id of a decision; an id is the string that decide returned")
    return as_text(id_)


def as_text(text: str) -> str:
    """A string as databases keep it: half of a character (a surrogate) is no text."""
    return text.encode("utf-8", "backslashreplace").decode()


def newest_state(name: str, found: Sequence[Any], read: Callable[[bytes], T]) -> tuple[int, T] | None:
    """The first of some snapshots (seq, state, checksum), the newest first, that can be read, and its row; None if there is none."""
    problem: CannotRead | None = None
    for seq, state, checksum in found:
        try:
            if checksum is not None and checksum != snapshot_checksum(seq, bytes(state)):
                raise CannotRead(f"the snapshot after row {seq} of {name} is damaged: its checksum does not fit")
            return seq, read(bytes(state))
        except CannotRead as damaged:
            problem = problem or damaged
    if problem is not None:
        raise problem
    return None


class Store(Protocol):
    """An open store. One thread uses it at a time: the bandit holds a lock."""

    name: str  # for messages
    local: bool  # whether a transaction takes no time but this process's own, unless another process writes
    patience: float  # seconds to wait for other processes that write; then `Busy`

    def transaction(self, *, learner: bool = False) -> AbstractContextManager[None]:
        """All that is written inside is kept, or nothing; the learner is refused if another has claimed the store since."""

    def migrate(self) -> None:
        """Inside a transaction: make what this version needs, from nothing or from an earlier format."""

    def claim(self) -> None:
        """Inside a transaction: become the learner."""

    def append(self, kind: str, **row: Any) -> int:
        """Write a row of the log; returns its number."""

    def append_all(self, kind: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Write rows of one kind by one statement; returns the number of the last. `Repeated` ends the transaction: none is to be kept."""

    def rows(self, after: int, limit: int) -> list[Row]:
        """At most `limit` rows after a row, their checksums compared; those set aside have the kind `ASIDE`."""

    def last(self) -> int:
        """The number of the newest row, 0 if there is none."""

    def decision(self, id_: str) -> Row | None:
        """The row of a decision."""

    def decisions(self, ids: Sequence[str]) -> list[Row]:
        """The rows of those decisions that there are, in any order."""

    def activated(self, id_: str) -> bool:
        """Whether a deferred decision was activated."""

    def decided_after(self, seq: int) -> bool:
        """Whether a decision was made after a row."""

    def answered(self, id_: str) -> bool:
        """Whether a decision has had its reward, was expired or was dropped, as far as the log reaches."""

    def rewarded(self, id_: str) -> float | None:
        """The reward that a decision has had, the newest if it was replaced.

        Inside a transaction no other process changes it before the end.
        """

    def span(self) -> tuple[float | None, float | None]:
        """The first and the last time in the log; None if it is empty."""

    def delete_learned(self) -> int:
        """Inside a transaction: delete the rows up to the newest snapshot, but for decisions without a reward. Returns how many.

        Their numbers are not used again, and `rows` skips the gaps.
        """

    def set_aside(self, seq: int, reason: str) -> None:
        """Keep a row, but never apply it."""

    def refused(self) -> int:
        """How many rows were set aside."""

    def snapshot(self, seq: int, state: bytes) -> None:
        """Keep the state after row `seq`."""

    def newest(self) -> int | None:
        """The row of the newest snapshot."""

    def state(self, read: Callable[[bytes], T]) -> tuple[int, T] | None:
        """The newest snapshot that can be read, and its row."""

    def settle(self) -> None:
        """Outside transactions: move what was committed to where a copy of the store finds it."""

    def backup(self, path: Path) -> None:
        """Write a consistent copy, whole or not at all, while others go on writing."""

    def close(self) -> None:
        """Let the store go."""


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    found = plain(value)
    if found is not value:
        return found
    raise TypeError(f"{type(value).__name__} is not JSON")


_any = json.JSONEncoder(separators=(",", ":"), default=_plain).encode


def _fast(value: Any) -> str:
    try:
        return fast.dumps(value, default=_plain).decode()
    except TypeError:
        return _any(value)


# Compact JSON, NumPy's numbers included. Where orjson is installed it is ten times as fast; it refuses whole numbers of more than 64 bits,
# keys that are no strings, and halves of characters, which Python's own encoder writes.
dumps: Callable[[Any], str] = _any if fast is None else _fast
