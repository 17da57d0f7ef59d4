"""A type checker refuses wrong words, wrong items and misspelt arguments of `Bandit`, and accepts what its pages show."""

import pathlib
import subprocess
import sys

import pytest

GOOD = """
import datetime
import numpy as np
import driftbandits as db

bandit = db.Bandit(reward="click", features="hybrid", half_life="3d", on_repeat="replace")
d = bandit.decide({"a": {"price": 3.0, "embedding": [1.0, 2.0]}, "b": None}, {"age": 31}, at=datetime.datetime.now())
bandit.decide(["a", "b"], np.ones(3), mask=[True, False])
bandit.decide(np.eye(3), k=2)
bandit.decide({1: [1.0, 2.0], 2: np.ones(2)})
bandit.reward(d.id, 1)
bandit.reward(d.to_dict(), {"a": 1.0})
bandit.observe("a", reward=1.0)
bandit.fit(object(), item="item", reward="reward", time="time", context=["age"])
db.Bandit(features=lambda item, context: [1.0])
durable = db.Bandit.open("shop.db", reward="count", sync="full")
"""
BAD = {
    'db.Bandit(reward="clicks")': "arg-type",
    'db.Bandit(features="interct")': "arg-type",
    'db.Bandit(on_repeat="skip")': "arg-type",
    "db.Bandit().decide(items=42)": "arg-type",
    'db.Bandit().fit(object(), item="i", reward="r", tme="t")': "call-arg",
    'db.Bandit.open("shop.db", reward="clicks")': "arg-type",
    'db.Bandit.open("shop.db", snyc="full")': "call-arg",
    'db.Bandit.follow("shop.db", reward="click")': "call-arg",
    'db.Bandit().reward("id", "much")': "arg-type",
}


@pytest.mark.slow
def test_mypy_refuses_what_is_wrong_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(GOOD + "\n".join(BAD) + "\n")
    source = pathlib.Path(__file__).resolve().parents[3] / "src"
    call = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    said = subprocess.run(
        call, capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(source), "PATH": ""}
    ).stdout
    first = len(GOOD.splitlines()) + 1
    found = [line for line in said.splitlines() if line.startswith("script.py") and ": error:" in line]
    assert [(int(line.split(":")[1]), line.rsplit("[", 1)[1].rstrip("]")) for line in found] == [
        (first + n, code) for n, code in enumerate(BAD.values())
    ], said
