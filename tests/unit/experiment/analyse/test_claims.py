"""Claims: means, paired tests, every pair."""

from typing import Any

import numpy as np
import pytest

from driftbandits.experiment.analyse.claims import compare, judge
from driftbandits.experiment.analyse.panel_results import Curve
from driftbandits.experiment.spec.schema import Claim


def curve(name: str, final: Any, environment: str = "world", horizon: int = 10) -> Curve:
    values = np.asarray(final, float)
    return Curve(
        environment, name, np.array([horizon]), values[:, None], [1e-3] * len(values), horizon, {"use": "oful"}
    )


def claim(**changes: Any) -> Claim:
    given: dict[str, Any] = {"text": "c", "left": ("a",), "relation": "<", "right": ("b",)}
    return Claim(**{**given, **changes})


def test_a_difference_within_the_noise_does_not_hold() -> None:
    noisy, other = np.array([1.0, 5.0, 2.0, 6.0]), np.array([4.0, 2.0, 5.0, 4.0])
    result = compare(claim(), "a", noisy, "b", other)
    assert result.margin > 0
    assert not result.holds


def test_pairing_sees_through_common_noise() -> None:
    common = np.array([0.0, 50.0, 100.0, 20.0])
    assert compare(claim(), "a", 100 + common, "b", 101 + common + [0.0, 0.1, 0.0, 0.1]).holds


def test_a_claim_about_many_is_one_about_every_pair() -> None:
    curves = [curve("a", [1, 1.1]), curve("b", [2, 2.2]), curve("c", [0.5, 0.6])]
    both = judge(claim(right=("b", "c")), curves, ["world"], {}, [])
    assert not both.holds
    assert both.margin == pytest.approx((0.55 - 1.05) / 0.55)
    assert "2 comparisons" in both.detail
    with pytest.raises(KeyError):  # plans refuse such a claim; it is never dropped
        judge(claim(right=("nobody",)), curves, ["world"], {}, [])


def test_about_the_same() -> None:
    curves = [curve("a", [100, 101, 102]), curve("b", [103, 104, 105])]
    close = judge(claim(relation="about", tolerance=0.15), curves, ["world"], {}, [])
    far = judge(claim(relation="about", tolerance=0.01), curves, ["world"], {}, [])
    assert close.holds
    assert not far.holds


def test_other_environments_time_and_exponents() -> None:
    curves = [curve("a", [1, 1.1], "easy"), curve("a", [10, 11], "hard"), curve("b", [5, 5.5], "hard")]
    across = judge(claim(left=("a @ easy",), right=("a @ hard",), factor=2.0), curves, ["hard"], {}, [])
    assert across.holds
    assert "factor of 10" in across.detail
    time = judge(claim(quantity="time"), curves, ["hard"], {}, [])
    assert not time.holds
    slope = judge(
        claim(quantity="exponent", right=1.2, axis="x"),
        curves,
        [],
        {"easy": 1.0, "hard": 10.0},
        ["easy", "hard"],
    )
    assert slope.margin == pytest.approx(0.2 / 1.2, abs=1e-6)


def test_nothing_on_the_right() -> None:
    """Regrets of zero, as of a single arm: no division by zero, and no claim that holds by accident."""
    zero, one = np.zeros(3), np.ones(3)
    assert not compare(claim(), "a", one, "b", zero).holds
    assert not compare(claim(), "a", zero, "b", zero).holds
    assert compare(claim(factor=2.0), "a", zero, "b", one).holds
