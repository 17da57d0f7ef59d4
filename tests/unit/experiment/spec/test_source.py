"""Where a key stands in its file."""

from driftbandits.experiment.spec.source import Source


def test_lines_are_found_in_nested_arrays_of_tables() -> None:
    source = Source.from_text("[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\nx.z = 3\n", "f")
    assert source.line("a", 0, "b", "y") == 4
    assert source.line("a", 1, "x", "z") == 6
    assert source.line("a", 1, "nothing") == 5
