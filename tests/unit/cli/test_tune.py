"""`driftbandits tune`."""

import json

import pytest

from command_line import call


def test_tune_gives_the_numbers_of_the_theorems() -> None:
    arguments = ["tune", "--horizon", "6000", "--dim", "2", "--path-length", "6.283185019988713", "--changes", "5"]
    rows = {row["strategy"]: row for row in json.loads(call(*arguments, "--json"))}
    assert rows["lb_weight_ucb"]["gamma"] == pytest.approx(0.97711772, abs=1e-8)
    assert rows["lb_weight_ucb"]["bound"] == pytest.approx(30421.209, abs=1e-3)
    assert rows["sw_ucb"]["W"] == rows["restart_ucb"]["H"] == 34
    assert set(rows) == {
        "lb_weight_ucb",
        "sw_ucb",
        "restart_ucb",
        "bob",
        "glb_weight_ucb",
        "scb_weight_ucb",
        "scb_pw_weight_ucb",
    }
    assert "0.977118" in call(*arguments)
    half = json.loads(call(*arguments, "--half-life", "30", "--json"))
    assert {row["gamma"] for row in half} == {2 ** (-1 / 30)}
