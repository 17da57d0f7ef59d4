"""Where a key stands in its file."""

import pathlib

import pytest

from driftbandits.experiment.spec.source import Source, SpecError


def test_lines_are_found_in_nested_arrays_of_tables() -> None:
    source = Source.from_text("[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\nx.z = 3\n", "f")
    assert source.line("a", 0, "b", "y") == 4
    assert source.line("a", 1, "x", "z") == 6
    assert source.line("a", 1, "nothing") == 5


def test_a_file_of_an_editor_that_marks_utf_8_is_read(tmp_path: pathlib.Path) -> None:
    """Windows' editor puts three bytes before the text."""
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf" + b"a = 1\n")
    assert Source.read(path).data == {"a": 1}
    path.write_bytes(b"\xff\xfea\x00")
    with pytest.raises(SpecError, match="it is not UTF-8 text"):
        Source.read(path)
