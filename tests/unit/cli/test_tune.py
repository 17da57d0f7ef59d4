"""`driftbandits tune`."""

import json
from typing import Any

import pytest

from command_line import call, refused
from driftbandits import theory


def test_tune_gives_the_numbers_of_the_theorems() -> None:
    arguments = ["tune", "--horizon", "6000", "--dim", "2", "--path-length", "6.283185019988713", "--changes", "5"]
    rows = {row["strategy"]: row for row in json.loads(call(*arguments, "--json"))}
    assert rows["lb_weight_ucb"]["gamma"] == pytest.approx(0.97711772, abs=1e-8)
    assert rows["lb_weight_ucb"]["bound"] == pytest.approx(30421.209, abs=1e-3)
    assert rows["sw_ucb"]["W"] == rows["restart_ucb"]["H"] == 34
    assert set(rows) == {
        "lb_weight_ucb",
        "d_lin_ucb",
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


def test_tune_for_mdps_gives_the_numbers_of_theorems_5_and_6() -> None:
    arguments = ["tune", "--mdp", "--episodes", "3000", "--horizon", "10", "--dim", "2", "--path-length", "20"]
    rows = {row["strategy"]: row for row in json.loads(call(*arguments, "--json"))}
    assert set(rows) == {"weight_ucrl", "sw_ucrl", "restart_ucrl"}
    size: dict[str, Any] = {"K": 3000, "H": 10, "d_theta": 2, "P_theta": 10.0, "P_w": 10.0, "S_theta": 1.0}
    bound = theory.linear_mixture_regret_bound(**size)
    assert rows["weight_ucrl"]["bound"] == pytest.approx(bound.total, rel=1e-12)
    assert rows["weight_ucrl"]["gamma"] == theory.mdp_gamma(K=3000, H=10, Delta=20.0)
    assert rows["sw_ucrl"]["W"] == theory.mdp_window(K=3000, H=10, Delta=20.0)
    shown = call(*arguments, "--kappa", "0.01", "--successors", "3")
    assert "mnl_weight_ucrl" in shown
    assert "none stated" in shown
    multinomial = {row["strategy"]: row for row in json.loads(call(*arguments, "--kappa", "0.01", "--json"))}
    assert multinomial["mnl_weight_ucrl"]["bound"] == pytest.approx(
        theory.mnl_regret_bound(**size, kappa=0.01, U=2).total, rel=1e-12
    )


def test_what_belongs_to_mdps_alone_is_said() -> None:
    assert "--mdp needs --episodes" in refused("tune", "--mdp", "--horizon", "10", "--dim", "2", "--path-length", "20")
    assert "give --mdp too" in refused("tune", "--horizon", "10", "--dim", "2", "--path-length", "2", "--kappa", "0.1")
    sizes = ["--mdp", "--horizon", "10", "--dim", "2", "--path-length", "2", "--episodes", "99"]
    assert "apply to bandits only" in refused("tune", *sizes, "--changes", "3")
    assert "apply to bandits only" in refused("tune", *sizes, "-R", "1")
    assert "give --kappa too" in refused("tune", *sizes, "--successors", "3")


def test_the_sharp_variant_balances_gamma_and_window() -> None:
    """Without the superfluous √d: 1 − γ = √(P_T/(d^{3/2}T)), W = √(d^{3/2}T/P_T), and a smaller bound."""
    arguments = ["tune", "--horizon", "6000", "--dim", "16", "--path-length", "6", "--json", "--variant"]
    sharp, corrected = (
        {row["strategy"]: row for row in json.loads(call(*arguments, variant))} for variant in ("sharp", "corrected")
    )
    assert sharp["lb_weight_ucb"]["gamma"] == pytest.approx(1 - (6 / (64 * 6000)) ** 0.5)
    assert sharp["d_lin_ucb"]["gamma"] == sharp["lb_weight_ucb"]["gamma"]
    assert sharp["sw_ucb"]["W"] == int((64 * 6000 / 6) ** 0.5)
    for name in (
        "lb_weight_ucb",
        "d_lin_ucb",
        "glb_weight_ucb",
        "scb_weight_ucb",
    ):  # a window is balanced in its rate only
        assert sharp[name]["bound"] < corrected[name]["bound"]
    repaired = {row["strategy"]: row for row in json.loads(call(*arguments, "repaired"))}
    assert repaired["scb_weight_ucb"]["bound"] < corrected["scb_weight_ucb"]["bound"]
    assert repaired["lb_weight_ucb"]["bound"] == corrected["lb_weight_ucb"]["bound"]
