"""A test of the tests: mistakes that must not go unnoticed, and the tools that make them."""

import pathlib
import subprocess
import sys
import types

import pytest

from driftbandits.util import words

TOP = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP / "tools"))


@pytest.mark.slow
def test_none_of_the_fixed_mutants_survives() -> None:
    """Eleven changes of one line each, tried on the tests of their modules, interpreted: see tools/mutate.py."""
    done = subprocess.run(
        [sys.executable, "tools/mutate.py", "fixed"], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("noticed ") == 11


def test_a_sample_is_the_same_for_the_same_seed(tools):
    from mutants.changes import drawn

    one, other = ([mutant.row() for mutant in drawn(9, 5, ("util",))] for _ in range(2))
    assert one == other
    assert one != [mutant.row() for mutant in drawn(9, 6, ("util",))]


def test_a_mutant_is_made_in_functions_that_exist(tools):
    from mutants.changes import sites
    from mutants.swap import nameless, swap

    mutants = [site.mutant() for site in sites(["util/words.py"])]
    wrong = next(mutant for mutant in mutants if mutant.statement.startswith("return") and mutant.in_function)
    inside = [thing for thing in vars(words).values() if isinstance(thing, types.FunctionType)]
    twins = [f.__code__.replace(co_name="twin", co_qualname="twin") for f in inside]  # as `core.kernel` makes them
    copies = {nameless(code): [types.FunctionType(code, {})] for code in twins}
    swap(wrong, copies)
    changed = [code for code in twins if copies[nameless(code)][0].__code__ != code]
    assert len(changed) == 1
    assert copies[nameless(changed[0])][0].__name__ == "twin"
    assert wrong.line in range(changed[0].co_firstlineno, changed[0].co_firstlineno + 40)


@pytest.mark.slow  # it makes every mutant of the modules judged, 40 s
def test_judgements_are_of_the_code_as_it_is(tools):
    from mutants.judged import outdated

    assert outdated() == []
