"""Files are whole or absent, whichever step fails, and locks hold between processes."""

import os
import pathlib
import re
import stat
import subprocess
import sys
import threading
import time

import pytest
from conftest import sized

from driftbandits.errors import CannotWrite, DriftBanditsError
from driftbandits.io.files import locked, remove_abandoned, write_atomically
from faults import BROKEN, FULL, READ_ONLY, Died, faults


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    return list(folder.rglob("*.part"))


@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 1000, "θ̂\r\n", bytearray(b"abc"), memoryview(b"abc")])
def test_writes_bytes_and_text(tmp_path, data):
    path = tmp_path / "a"
    write_atomically(path, data)
    assert path.read_bytes() == (data.encode() if isinstance(data, str) else bytes(data))
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_short_writes_are_continued(tmp_path):
    with faults(0, longest=7):
        write_atomically(tmp_path / "a", bytes(range(100)))
    assert (tmp_path / "a").read_bytes() == bytes(range(100))


def steps_of_a_write(folder: pathlib.Path) -> int:
    with faults(0, longest=40) as seen:
        write_atomically(folder / "probe", b"x" * 100)
    (folder / "probe").unlink()
    return seen.count


@pytest.mark.parametrize("error", [FULL, READ_ONLY, BROKEN, None])
@pytest.mark.parametrize("old", [None, b"old"])
def test_every_step_that_fails_leaves_old_or_new(tmp_path, error, old):
    """open, three writes, fsync, rename, open and fsync of the folder: each fails once; or the process dies there."""
    path, new = tmp_path / "a", b"n" * 100
    total = steps_of_a_write(tmp_path)
    assert total == 8
    outcomes = []
    for n in range(1, total + 1):
        path.unlink(missing_ok=True)
        if old is not None:
            path.write_bytes(old)
        with faults(n, error=error, longest=40), pytest.raises(CannotWrite if error else Died) as caught:
            write_atomically(path, new)
        content = path.read_bytes() if path.exists() else None
        assert content in (old, new)
        outcomes.append(content == new)
        if error:
            assert re.fullmatch(r".*/a cannot be written: [^\n]+", str(caught.value))
            assert caught.value.errno == error.errno
            assert parts(tmp_path) == []
        for part in parts(tmp_path):
            part.unlink()
    assert outcomes == [False] * 6 + [True] * 2  # the rename is the sixth step


def test_content_is_on_disk_before_the_name(tmp_path):
    """fsync of the file comes before the rename, fsync of the folder after it."""
    order = []

    class Watching:
        def __getattr__(self, name):
            real = getattr(os, name)
            if name not in ("fsync", "replace"):
                return real
            return lambda *args: (order.append(name), real(*args))[1]

    from driftbandits.io import files

    files.os = Watching()
    try:
        write_atomically(tmp_path / "a", b"x")
    finally:
        files.os = os
    assert order == ["fsync", "replace", "fsync"]


def test_a_missing_folder_is_one_line(tmp_path):
    with pytest.raises(DriftBanditsError, match=r"b/a cannot be written: no such file or directory$"):
        write_atomically(tmp_path / "b" / "a", b"x")


def test_devices_pipes_and_folders_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(CannotWrite, match="not a regular file"):
            write_atomically(tmp_path / name, b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(CannotWrite):
        write_atomically("/dev/null", b"x")
    assert stat.S_ISCHR(pathlib.Path("/dev/null").stat().st_mode)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_permissions_follow_the_umask_and_may_be_private(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "a", b"x")
        write_atomically(tmp_path / "b", b"x", mode=0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_a_long_name_fits(tmp_path):
    write_atomically(tmp_path / ("n" * 255), b"x")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


def test_abandoned_parts_are_removed_and_fresh_ones_kept(tmp_path):
    (tmp_path / "deep").mkdir()
    old, fresh, mine = tmp_path / "deep" / ".0.part", tmp_path / ".1.part", tmp_path / "song.part"
    for path in (old, fresh, mine):
        path.write_bytes(b"x")
    for path in (old, mine):
        os.utime(path, (time.time() - 7200,) * 2)
    assert remove_abandoned(tmp_path) == 1
    assert not old.exists()
    assert fresh.exists()
    assert mine.exists()  # not a name we give


def test_many_threads_write_one_file(tmp_path):
    contents = [bytes([i]) * 5000 for i in range(8)]

    def write(content):
        for _ in range(5):
            write_atomically(tmp_path / "a", content)
            assert (tmp_path / "a").read_bytes() in contents

    errors = []
    threads = [threading.Thread(target=lambda c=c: errors.append(write(c))) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [None] * 8
    assert parts(tmp_path) == []


COUNT = """
import pathlib, sys
from driftbandits.io.files import locked
number = pathlib.Path(sys.argv[1])
for _ in range(200):
    with locked(number.with_name(".lock")):
        number.write_text(str(int(number.read_text()) + 1))
"""


def test_locks_hold_between_processes(tmp_path):
    """Two processes (`make test-all`: three) count to 200 each in one file."""
    n = sized(2, 3)
    number = tmp_path / "number"
    number.write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", COUNT, str(number)]) for _ in range(n)]
    assert [p.wait(300) for p in processes] == [0] * n
    assert number.read_text() == str(200 * n)


def test_locks_hold_between_threads_and_are_freed_by_errors(tmp_path):
    inside = []

    def work():
        with locked(tmp_path / ".lock"):
            inside.append(1)
            assert len(inside) == 1
            time.sleep(0.005)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(ValueError), locked(tmp_path / ".lock"):
        raise ValueError
    with locked(tmp_path / ".lock", shared=True), locked(tmp_path / ".lock", shared=True):
        pass
    with pytest.raises(CannotWrite, match="cannot be written"), locked(tmp_path / "no" / ".lock"):
        pass
