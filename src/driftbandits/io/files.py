"""Atomic writing of files, and locks between processes.

A file is written under a temporary name, flushed to the disk, and then renamed. A reader therefore finds the old content or the new one and
never a part of it, even if the process dies, several processes write, or the power fails.
"""

import contextlib
import errno
import os
import pathlib
import secrets
import stat
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any, TypeAlias

from ..errors import CannotWrite, InvalidValue, said

Path: TypeAlias = str | os.PathLike[str]

PART = ".part"  # the suffix of unfinished files
ABANDONED = 3600.0  # seconds after which an unfinished file belongs to a process that died

_EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def write_atomically(
    path: str | os.PathLike[str], data: bytes | bytearray | memoryview | str, *, mode: int = 0o666
) -> None:
    r"""Write a whole file, or leave the existing one unchanged.

    Parameters
    ----------
    path
        Its folder must exist. A symbolic link is followed; anything that exists and is not a regular file is refused.
    data
        Bytes, or text, which is written as UTF-8 without changing line ends.
    mode
        Permissions of the new file, before the umask; 0o600 for files that others must not read.

    Raises
    ------
    CannotWrite
        One line with the reason (a full disk, no permission, …). No unfinished file is left.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(pathlib.Path(folder) / "note.txt", "θ")
    ...     (pathlib.Path(folder) / "note.txt").read_bytes()
    b'\xce\xb8'
    """
    content = data.encode() if isinstance(data, str) else data
    target = os.path.realpath(as_path(path))
    try:
        _refuse_special(target)
        part = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}{PART}")
        try:
            _write_new(part, content, mode)
            os.replace(part, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
        _sync_folder(os.path.dirname(target))
    except OSError as problem:
        raise CannotWrite(os.fspath(path), problem) from problem


def as_path(path: Path) -> str:
    """A path as a string; raises `InvalidValue` if it is not a valid path.

    Examples
    --------
    >>> as_path("")
    Traceback (most recent call last):
    ...
    driftbandits.errors.InvalidValue: '' is not a path; it must name a file
    """
    try:
        name = os.fsdecode(path)
    except (TypeError, ValueError):
        raise InvalidValue(f"{said(path)} is not a path; it must be a string or a pathlib.Path") from None
    if not name or "\0" in name:
        raise InvalidValue(f"{said(name)} is not a path; it must name a file")
    try:
        os.lstat(name)
    except UnicodeEncodeError:
        raise InvalidValue(f"{said(name)} is not a path; it contains an unpaired surrogate character") from None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            raise InvalidValue(f"{said(name)} is not a path; it is too long") from None
    return name


def sync_file(path: str) -> None:
    """Flush a written file to the disk."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_special(target: str) -> None:
    """Raise if the target is a device, a pipe or another special file, which the rename would replace by a regular file."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(target).st_mode):
            raise OSError("it is not a regular file")


def _write_new(part: str, content: bytes | bytearray | memoryview, mode: int) -> None:
    descriptor = os.open(part, _EXCLUSIVE, mode)
    try:
        left = memoryview(content).cast("B")
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)  # before the rename: otherwise a power failure may leave an empty file under the new name
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    """Flush the rename itself to the disk, where the system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder and its parents, if they do not exist."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(os.fspath(path), problem) from problem


def remove_abandoned(folder: pathlib.Path, *, older: float = ABANDONED) -> int:
    """Remove unfinished files of processes that died, anywhere below a folder; returns their number."""
    removed = 0
    for part in folder.rglob(f".*{PART}"):
        with contextlib.suppress(OSError):  # another process may be cleaning too
            if time.time() - part.stat().st_mtime > older:
                part.unlink()
                removed += 1
    return removed


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], *, shared: bool = False) -> Iterator[None]:
    """Wait for a lock between processes and hold it. The empty lock file remains; the system releases the lock if the process dies.

    Two threads of one process exclude each other as well. Where the file system has no locks (some network disks), nothing
    is locked; files are still written atomically.

    Parameters
    ----------
    path
        The lock file, created if absent. Its folder must exist.
    shared
        Take a shared lock, which several processes can hold at once.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, locked(pathlib.Path(folder) / ".lock"):
    ...     print("alone")
    alone
    """
    try:
        handle = open(path, "ab")  # noqa: SIM115 - closing frees the lock
    except OSError as problem:
        raise CannotWrite(os.fspath(path), problem) from problem
    with handle:
        _lock(handle, shared)
        yield


def take_lock(path: str | os.PathLike[str]) -> Any:
    """Try to lock a file. Returns it, locked until it is closed or the process dies, or None if another process holds the lock.

    A forked child does not hold it.
    """
    try:
        handle = open(path, "ab")  # noqa: SIM115 - closing frees the lock
    except OSError as problem:
        raise CannotWrite(os.fspath(path), problem) from problem
    if _try_lock(handle):
        _held.add(handle)
        return handle
    handle.close()
    return None


_held: weakref.WeakSet[Any] = weakref.WeakSet()  # files whose locks this process holds


def _let_go_in_child() -> None:
    """Close locked files in a forked child. A lock lasts until all processes that inherited its file have closed it."""
    for handle in list(_held):
        handle.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


if sys.platform == "win32":

    def _try_lock(handle: Any) -> bool:
        import msvcrt

        handle.seek(0)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(handle: Any, shared: bool) -> None:
        import msvcrt

        handle.seek(0)
        while True:
            with contextlib.suppress(OSError):  # LK_LOCK raises after ten seconds of waiting: try again
                msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
                return

else:

    def _try_lock(handle: Any) -> bool:
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def _lock(handle: Any, shared: bool) -> None:
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
