"""`driftbandits report`."""

import errno
import os
import pathlib
from typing import Any

import pytest

import small_experiment as small
from command_line import call, refused


def test_report_of_a_finished_folder(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    call("run", str(path), "--out", str(tmp_path / "out"), "--tiny", "--quiet")
    (tmp_path / "out" / "report.html").unlink()
    assert "report.html" in call("report", str(tmp_path / "out"))
    assert (tmp_path / "out" / "report.html").exists()
    call("report", str(tmp_path), code=2)


def test_a_symbolic_link_is_not_followed(tmp_path: pathlib.Path) -> None:
    call("run", str(small.write(tmp_path)), "--out", str(tmp_path / "out"), "--tiny", "--quiet")
    mine, page = tmp_path / "mine.txt", tmp_path / "out" / "report.html"
    mine.write_text("mine")
    page.unlink()
    page.symlink_to(mine)
    assert "symbolic link" in refused("report", str(tmp_path / "out"))
    assert mine.read_text() == "mine"


def test_a_folder_that_cannot_be_written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only disk: root may write everywhere, so the system call is made to fail."""
    call("run", str(small.write(tmp_path)), "--out", str(tmp_path / "out"), "--tiny", "--quiet")
    before = (tmp_path / "out" / "report.html").read_bytes()
    opened = os.open

    def read_only(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return opened(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", read_only)
    line = refused("report", str(tmp_path / "out"))
    assert "report.html cannot be written: read-only file system" in line
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert not list((tmp_path / "out").rglob("*.part"))
