"""`driftbandits table`."""

import json
import pathlib

import pytest

import manuscript
from command_line import call, refused
from driftbandits import theory

SIZE = ["table", "--horizon", "6000", "--dim", "2", "--path-length", "6.28"]


def test_it_prints_what_the_library_computes() -> None:
    printed = json.loads(call(*SIZE, "--changes", "5", "-S", "5", "--json"))
    table = theory.table1(T=6000, d=2, P_T=6.28, changes=5, S=5.0)
    assert [row["value"] for row in printed["rows"]] == [row.value for row in table.rows]
    told = call(*SIZE, "--changes", "5", "-S", "5")
    for row in table.rows:
        assert row.algorithm in told
        assert f"{row.value:.4g}" in told
    assert "for every T" in told
    assert "for d above 1" in told


def test_printed_and_corrected() -> None:
    totals = [
        json.loads(call(*SIZE, "--variant", variant, "--json"))["rows"][1]["bound"]["terms"]["variance"]
        for variant in ("printed", "corrected")
    ]
    assert totals[0] != totals[1]
    assert "variant = 'copied' is not allowed" in refused(*SIZE, "--variant", "copied")


@pytest.mark.parametrize("kind", [pytest.param("png", marks=pytest.mark.slow), "svg"])  # the same drawing
def test_the_figure_has_every_row(tmp_path: pathlib.Path, kind: str) -> None:
    target = tmp_path / f"table.{kind}"
    call(*SIZE, "--episode", "10", "--variation", "3", "--figure", str(target))
    drawn = target.read_bytes()
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert "must end in one of" in refused(*SIZE, "--figure", str(tmp_path / "table.txt"))
    assert not (tmp_path / "table.txt").exists()


def test_a_bound_above_the_largest_possible_regret_has_a_star() -> None:
    """Theorem 1 says something at this size, Theorem 3 does not."""
    told = call(*SIZE, "-S", "5", "--variant", "sharp")
    assert "5.199e+04 " in told
    assert "1.034e+06*" in told
    assert "* not smaller than the largest possible regret" in told


def test_the_sharper_bias_is_named_where_there_is_one() -> None:
    """Theorem 4 has no bias of this kind: its row is the paper's."""
    rows = theory.table1(T=6000, d=2, P_T=6.28, changes=5, S=5.0, variant="sharp").rows
    sources = {row.algorithm: row.source for row in rows if row.kind == "paper"}
    assert "sharper" in sources["LB-WeightUCB"]
    assert "sharper" not in sources["SCB-PW-WeightUCB"]


def test_it_is_written_as_latex(tmp_path: pathlib.Path) -> None:
    call(
        *SIZE,
        "--changes",
        "5",
        "--episode",
        "10",
        "--variation",
        "3",
        "--kappa",
        ".1",
        "--latex",
        str(tmp_path / "t.tex"),
    )
    text = (tmp_path / "t.tex").read_text()
    manuscript.structure(text)
    assert r"$d^{3/4} P_T^{1/4} T^{3/4}$" in text
    assert r"c_\mu^{-3/4}" in text
    assert r"\cdot 10^{" in text
    assert not manuscript.problems(tmp_path, [r"\input{t}"], 2)


def test_what_it_needs() -> None:
    assert "give --path-length, --changes or" in refused("table", "--horizon", "100", "--dim", "2")
    assert "link = 'cauchit' is not allowed" in refused(*SIZE, "--link", "cauchit")
