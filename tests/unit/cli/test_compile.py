"""`driftbandits compile`."""

import os
import pathlib
import subprocess
import sys

import pytest

from command_line import call, refused
from driftbandits.cli import compile as command
from driftbandits.zoo.record import RECORDS

#: In place of the child that compiles: leaves a file, and says what it was told.
WRITES = """
import os, pathlib
place = pathlib.Path(os.environ["DRIFTBANDITS_CACHE"]) / "compiled"
place.mkdir(parents=True, mode=0o700)
(place / "code.nbc").write_text(os.environ.get("NUMBA_CPU_NAME", "host"))
(place / "code.nbc").chmod(0o600)
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "give the names of the strategies to compile, or --all"),
        (["oful", "--all"], "give the names of the strategies to compile, or --all"),
        (["no_such"], "there is no strategy 'no_such'; driftbandits list shows all"),
        (["oful", "--cpu", "z80"], "--cpu z80 is not known; it must be host or generic"),
    ],
)
def test_what_cannot_be_compiled_is_one_line(given: list[str], said: str) -> None:
    assert said in refused("compile", *given)


@pytest.mark.parametrize(("option", "cpu"), [([], "host"), (["--cpu", "generic"], "generic")])
def test_a_cache_for_an_image_is_readable_for_all(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, option: list[str], cpu: str
) -> None:
    monkeypatch.setattr(command, "CHILD", WRITES)
    place = tmp_path / "image"
    told = call("compile", "oful", "--into", str(place), *option)
    assert "oful" in told
    assert f"1 of 1 in {place}" in told
    assert (place / "compiled" / "code.nbc").read_text() == cpu
    assert [p.stat().st_mode & 0o777 for p in (place, place / "compiled", place / "compiled" / "code.nbc")] == [
        0o755,
        0o755,
        0o644,
    ]


def test_what_fails_is_told_and_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(command, "CHILD", "raise SystemExit('no compiler today' if {name!r} == 'oful' else 0)")
    told = call("compile", "oful", "sw_ucb", "--into", str(tmp_path), code=2)
    assert "no compiler today" in told
    assert f"1 of 2 in {tmp_path}" in told


@pytest.mark.interpreted
@pytest.mark.parametrize("name", [*RECORDS, command.BANDIT])
def test_every_strategy_decides_once(name: str) -> None:
    command.compile_agent(name)  # raises if one cannot


@pytest.mark.slow
@pytest.mark.compiled
def test_generic_code_is_found_by_a_process_that_must_not_compile(tmp_path: pathlib.Path) -> None:
    call("compile", "lb_weight_ucb", "--cpu", "generic", "--into", str(tmp_path))
    program = """
import driftbandits as db
from driftbandits.core import numba_private
from driftbandits.core import background_compile
background_compile._compiler.ask = lambda *_: exit("not in the cache")
agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1), dim=2, seed=0)
print(agent.select([[1.0, 0.0]]), type(agent._decide).__name__)
"""
    settings = {**os.environ, "DRIFTBANDITS_CACHE": str(tmp_path), "DRIFTBANDITS_COMPILE": "background"}
    done = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "builtin_function_or_method"], done.stderr
