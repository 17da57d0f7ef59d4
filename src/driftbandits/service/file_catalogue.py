"""Loops in a folder: `loops/NAME/loop.json` (settings) and `loops/NAME/bandit.db` (the SQLite file of `Bandit.open`).

A deleted loop is moved to `deleted/`. A new loop is created under a temporary name and then renamed, so it exists completely or not at all.
"""

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import threading
import time
from typing import Any, cast

import orjson
from pydantic import ValidationError

from ..bandit.bandit import Bandit
from ..bandit.durable import Durable
from ..bandit.follower import Follower
from ..bandit.sqlite_store import SQLiteStore
from ..errors import CannotRead, CannotWrite, InvalidValue, said
from ..io.files import make_folder, write_atomically
from .catalogue import NAME, Entry, unknown
from .settings import LoopSettings

KEY = re.compile(r"[A-Za-z0-9_-]{1,500}")
REFRESH = 0.25  # seconds after which a follower looks for a newer snapshot
Mark = tuple[int, int, int]


class FileCatalogue:
    """The loops in a folder; see `Catalogue`."""

    def __init__(self, folder: pathlib.Path, *, shared: bool) -> None:
        self.folder = folder / "loops"
        self.deleted = folder / "deleted"
        self._place = os.fspath(self.folder)
        # Followers decide with snapshots. Without any, only a restart reads them, and requests wait for them 1/300 of the time.
        self._snapshots = (
            (0.5, 20.0) if shared else (5.0, 300.0)
        )  # seconds between two, and the part of the time they may take
        self._entries: dict[str, Entry] = {}
        self._lock = threading.Lock()
        make_folder(self.folder)
        make_folder(self.deleted)

    def names(self) -> list[str]:
        """All loops, sorted."""
        with _writing(self.folder):
            return sorted(e.name for e in os.scandir(self.folder) if NAME.fullmatch(e.name) and e.is_dir())

    def entry(self, name: str) -> Entry:
        """The settings of a loop, read again when their file has changed."""
        place = f"{self._place}/{name}/loop.json"  # every request comes here: a pathlib.Path costs more than the system call
        try:
            status = os.stat(place)  # noqa: PTH116
        except OSError:
            self._entries.pop(name, None)
            raise unknown(name) from None
        mark = (status.st_ino, status.st_mtime_ns, status.st_size)
        known = self._entries.get(name)
        if known is None or known.mark != mark:
            path = pathlib.Path(place)
            try:
                known = Entry(LoopSettings.model_validate_json(path.read_bytes()), mark, path.parent.stat().st_ino)
            except (OSError, ValidationError):
                raise CannotRead(f"{path} is damaged; restore it from a backup, or delete the loop") from None
            self._entries[name] = known
        return known

    def create(self, name: str, settings: LoopSettings, start: bytes | None = None) -> bool:
        """Make a loop."""
        part = self.folder / f".{secrets.token_hex(8)}.part"
        with _writing(part):
            part.mkdir()
            try:
                write_atomically(part / "loop.json", settings.model_dump_json())
                if start is not None:
                    write_atomically(part / "start.bandit", start)
                if (self.folder / name).exists():
                    return False
                part.rename(
                    self.folder / name
                )  # refused by the system if another process was faster: a folder with files stays
            except OSError:
                if (self.folder / name).exists():
                    return False
                raise
            finally:
                shutil.rmtree(part, ignore_errors=True)
        return True

    def update(self, name: str, settings: LoopSettings) -> None:
        """Keep changed settings."""
        write_atomically(self.folder / name / "loop.json", settings.model_dump_json())

    def remove(self, name: str) -> str:
        """Move the folder of a loop aside."""
        target = self.deleted / f"{name}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
        with _writing(target):
            try:
                (self.folder / name).rename(target)
            except FileNotFoundError:  # another call was faster
                raise unknown(name) from None
        return str(target)

    def learner(self, name: str, settings: LoopSettings) -> Durable:
        """Open a loop to learn."""
        path = self.folder / name / "bandit.db"
        if not path.parent.exists():
            raise unknown(name)
        fixed = settings.for_bandit()
        fixed.pop("explore")  # it may have changed since the file was made
        start = path.with_name("start.bandit")
        bandit = Bandit.open(path, start=start if start.exists() else None, **fixed)
        assert isinstance(bandit, Durable)
        bandit.snapshot_seconds, bandit.snapshot_share = self._snapshots
        bandit.tended = True
        cast(SQLiteStore, bandit.store).leave_settling()
        return bandit

    def follower(self, name: str) -> Follower:
        """Open a loop to decide."""
        bandit = Bandit.follow(self.folder / name / "bandit.db", refresh=REFRESH)
        assert isinstance(bandit, Follower)
        cast(SQLiteStore, bandit.store).leave_settling()
        return bandit

    def still_learns(self, name: str, bandit: Durable) -> bool:  # noqa: ARG002
        """The lock of a file is lost with its process only."""
        return True

    def note(self, name: str, key: str) -> dict[str, Any] | None:
        """A JSON file in the folder of the loop."""
        try:
            found = orjson.loads(self._note(name, key).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, orjson.JSONDecodeError):
            raise CannotRead(f"{self._note(name, key)} is damaged; delete it") from None
        return found if isinstance(found, dict) else None

    def notes(self, name: str, prefix: str) -> list[str]:
        """The names of those files."""
        return sorted(path.stem for path in (self.folder / name / "notes").glob(f"{prefix}*.json"))

    def keep_note(self, name: str, key: str, note: dict[str, Any] | None) -> None:
        """Write the file, whole or not at all."""
        path = self._note(name, key)
        if not path.parent.parent.exists():
            raise unknown(name)
        with _writing(path):
            if note is None:
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(exist_ok=True)
        write_atomically(path, orjson.dumps(note))

    def _note(self, name: str, key: str) -> pathlib.Path:
        if not KEY.fullmatch(key):
            raise InvalidValue(f"{said(key)} is no key of a note; it has letters, digits, '-' and '_'")
        return self.folder / name / "notes" / f"{key}.json"

    def ready(self) -> None:
        """Whether the folder can be written."""
        probe = self.folder.parent / f".{secrets.token_hex(8)}.part"
        try:
            write_atomically(probe, b"ready")
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    def close(self) -> None:
        """Nothing is shared."""


@contextlib.contextmanager
def _writing(path: pathlib.Path):  # type: ignore[no-untyped-def]
    try:
        yield
    except OSError as problem:
        raise CannotWrite(str(path), problem) from None
