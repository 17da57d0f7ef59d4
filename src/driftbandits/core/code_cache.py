"""Compiled code on disk. It is never stale, never half written, and never read from files that another user could have changed.

**Never stale.** A folder is named by a digest of everything that can be inlined into the code in it: the sources of this package that are
compiled (those of `bandit/` and `mdp/` only where the call uses them), every file that registers a method for one of the parts in the
call, and, if there is one, every outside file that defines a `kernel`, which such a method may call. Editing a user's own method or
kernel recompiles only the strategies that use the user's methods. Code typed at a prompt has no file and is not stored.

**Never half written.** The code of one function for one list of types is two files: NAME.nbc, and NAME.nbi, a JSON description with a
checksum. Both are written atomically under a lock. A damaged file causes one warning and is compiled again.

**Never another user's.** Loading compiled code means running it. A folder or file that belongs to another user (other than root), or
that others may write to, is refused; the folders made here are accessible to the user alone.

    $DRIFTBANDITS_CACHE, or driftbandits/ in the user's cache folder
      compiled/                  nothing outside this folder is ever deleted
        0123456789abcdef/        one digest
          .driftbandits          marks the folder as ours; its modification time is the day of the last use
          engine._decide-….nbc
          engine._decide-….nbi
"""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import CannotWrite, UnsafeCache
from ..io.files import locked, write_atomically
from .registry import outside_files
from .rooms import compiled_digest, rooms_apart

MARKER = ".driftbandits"
MARKED = "Compiled code of driftbandits. This folder is deleted when it has not been used for a month.\n"
STALE_AFTER_DAYS = 30.0
DAY = 86400.0


class CacheWarning(UserWarning):
    """Compiled code could not be stored or read: starts are slower, results are the same."""


@functools.cache
def warn_once(message: str) -> None:
    """Issue this warning once per process."""
    warnings.warn(message, CacheWarning, stacklevel=3)


# ------------------------------------------------------------------------------------------------------------- never stale


def digest(kinds: frozenset[type] = frozenset(), entry: Callable[..., Any] | None = None) -> str | None:
    """The digest of all code that may be inlined into an entry given these parts; None if some of it has no file."""
    outside = outside_files(kinds, entry)
    if not all(outside.values()):
        return None
    owners = kinds if entry is None else (*kinds, entry)
    apart = rooms_apart([str(owner.__module__) for owner in owners])
    parts = [compiled_digest(apart), *(outside[name] for name in sorted(outside))]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]


# ------------------------------------------------------------------------------------------------------------ where it is


def root() -> pathlib.Path:
    """The folder for compiled code: $DRIFTBANDITS_CACHE, or driftbandits/ in the user's cache folder."""
    chosen = os.environ.get("DRIFTBANDITS_CACHE")
    if chosen:
        return pathlib.Path(chosen)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "driftbandits"


def folder(kinds: frozenset[type] = frozenset(), entry: Callable[..., Any] | None = None) -> pathlib.Path | None:
    """The folder for an entry given these parts, which may not exist yet; None if some of their code has no file."""
    name = digest(kinds, entry)
    return None if name is None else root() / "compiled" / name


def refuse_foreign(place: pathlib.Path, *files: pathlib.Path) -> None:
    """Raise `UnsafeCache` if another user could have put code into this folder, or into these files in it."""
    if os.name != "posix":
        return
    for path in (place.parent.parent, place.parent, place, *files):
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        owner, mode = found.st_uid, stat.S_IMODE(found.st_mode)
        if owner not in (os.geteuid(), 0):
            problem, cure = f"belongs to user {owner}", "choose a folder of your own"
        elif mode & 0o022:
            problem, cure = f"may be written by others (mode {mode:o})", f"run chmod go-w {path}"
        else:
            continue
        what = "file in the cache" if path in files else "cache folder"
        raise UnsafeCache(
            f"the {what} {path} {problem}, and loading compiled code runs it; {cure}, or set DRIFTBANDITS_CACHE"
        )


def make(place: pathlib.Path) -> None:
    """Create the folder, accessible to this user alone, with its marker; then delete folders not used for a month."""
    if (place / MARKER).exists():
        return
    try:
        place.parent.parent.parent.mkdir(parents=True, exist_ok=True)
        for path in (place.parent.parent, place.parent, place):
            path.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(os.fspath(place), problem) from problem
    write_atomically(place / MARKER, MARKED, mode=0o600)
    _drop_old(place.parent)


def _drop_old(compiled: pathlib.Path) -> None:
    """Delete folders that no process has used for a month: only folders with our marker, inside our own folder."""
    limit = time.time() - STALE_AFTER_DAYS * DAY
    for old in compiled.glob("[0-9a-f]" * 16):
        with contextlib.suppress(OSError):
            if not old.is_symlink() and (old / MARKER).stat().st_mtime < limit:
                shutil.rmtree(old, ignore_errors=True)


# --------------------------------------------------------------------------------------------------------- whole or absent


class CodeFolder:
    """The compiled functions in one folder, each called a piece here."""

    def __init__(self, place: pathlib.Path) -> None:
        self.place = place

    def has(self, name: str) -> bool:
        """Whether both files of a piece exist; reading may still find them damaged."""
        return (self.place / f"{name}.nbi").is_file() and (self.place / f"{name}.nbc").is_file()

    def read(self, name: str) -> bytes | None:
        """The piece, or None if it is absent or its checksum is wrong."""
        if not self.has(name):
            return None
        index, code = self.place / f"{name}.nbi", self.place / f"{name}.nbc"
        refuse_foreign(self.place, index, code)
        try:
            about = json.loads(index.read_bytes())
            piece = code.read_bytes()
            whole = about["sha256"] == hashlib.sha256(piece).hexdigest()
        except OSError as problem:
            warn_once(f"compiled code in {self.place} cannot be read ({problem.strerror}): it is compiled again")
            return None
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            self.discard(name)
            return None
        self._used()
        return piece

    def about(self, name: str) -> dict[str, Any]:
        """The description stored with a piece; empty if it cannot be read."""
        try:
            found = json.loads((self.place / f"{name}.nbi").read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def discard(self, name: str) -> None:
        """Delete a piece that cannot be used, with a warning, so that it is compiled again."""
        warn_once(
            f"compiled code in {self.place} is damaged and is compiled again; if this warning comes back, check the disk"
        )
        for ending in ("nbi", "nbc"):
            with contextlib.suppress(OSError):
                (self.place / f"{name}.{ending}").unlink()

    def write(self, name: str, piece: bytes, about: dict[str, Any]) -> None:
        """Store a piece; where that is not possible, warn once and continue without."""
        index = json.dumps({**about, "sha256": hashlib.sha256(piece).hexdigest()}, indent=1)
        try:
            make(self.place)
            refuse_foreign(self.place)
            with locked(self.place / ".lock"):
                write_atomically(self.place / f"{name}.nbc", piece, mode=0o600)
                write_atomically(self.place / f"{name}.nbi", index, mode=0o600)
        except CannotWrite as problem:
            warn_once(
                f"compiled code cannot be stored ({problem}), so every start compiles again, for 5 to 20 seconds; "
                "set DRIFTBANDITS_CACHE to a folder that you can write to"
            )

    @contextlib.contextmanager
    def compiling(self, name: str) -> Iterator[None]:
        """Hold the lock of a piece while compiling it: other processes wait, and then find it in the folder."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(CannotWrite):
                make(self.place)
                stack.enter_context(locked(self.place / f"{name}.lock"))
            yield

    def _used(self) -> None:
        """Record that the folder was used today. Once a day is enough: folders are deleted after thirty."""
        with contextlib.suppress(OSError):
            marker = self.place / MARKER
            if time.time() - marker.stat().st_mtime > DAY:
                os.utime(marker)
