"""Formulas: the names they know, and what they may cost."""

import pytest

from driftbandits.experiment.spec.formulas import Scope, evaluate, number
from driftbandits.experiment.spec.source import SpecError

SCOPE = Scope({"T": 6000, "d": 2})


def test_lazy_names_see_the_innermost_scope() -> None:
    outer = Scope({"S": 1.0, "twice": lambda scope: 2 * scope["S"]})
    assert evaluate("twice", outer) == 2.0
    assert evaluate("twice + min(S, 9)", outer.inner({"S": 5.0})) == 15.0
    assert sorted(outer.inner({"T": 1})) == ["S", "T", "twice"]


def test_whole_numbers_stay_whole() -> None:
    assert [repr(number(f, SCOPE)) for f in ("T//4", "2**10", "T/4", "round(7.6)", "round(1.234, 1)", "2**-1")] == [
        "1500",
        "1024",
        "1500.0",
        "8",
        "1.2",
        "0.5",
    ]


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("9**9**9", "a number on the way is larger than 1.8e308"),
        ("9" * 400, "a number on the way is larger than 1.8e308"),
        ("2**1023 * 2**1023", "a number on the way is larger than 1.8e308"),
        ("10**9**9**9 % 7", "a number on the way is larger than 1.8e308"),
        ("'a'*10**10", "'a' is not a number"),
        ("'%1000000000d' % 7", "'%1000000000d' is not a number"),
        ("'a'", "is str 'a', not a number"),
        ("bob_candidates(T=T, d=d)", "is tuple"),
        ("-" * 5000 + "1", "it has 5001 characters, of at most 500"),
        ("-" * 400 + "1", "nested more than 50 deep"),
        ("(" * 300 + "1" + ")" * 300, "is not a formula"),
        ("+".join(["T"] * 51), "nested more than 50 deep"),
        ("1e308 * 10", "it is inf"),
        ("(-1)**0.5", "it is not a real number"),
        ("1/0", "division by zero"),
        ("exp(1e9)", "math range error"),
        ("T.__class__", "is not allowed in a formula"),
        ("(lambda: 1)()", "is not allowed in a formula"),
        ("[1 for i in 'ab']", "is not allowed in a formula"),
        ("T\x00", "is not a formula"),
    ],
)
def test_a_formula_without_a_value_costs_nothing(formula: str, reason: str) -> None:
    with pytest.raises(SpecError) as caught:
        number(formula, SCOPE)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_rounding_to_a_billion_digits_is_rounding() -> None:
    assert number("round(5, -10**9)", SCOPE) == 0


def chain(step: str, length: int) -> Scope:
    def constant(text: str):
        return lambda scope: evaluate(text, scope)

    return Scope({"c0": 1} | {f"c{i}": constant(step.format(i - 1)) for i in range(1, length + 1)})


def test_a_formula_and_the_constants_it_names_share_one_budget() -> None:
    assert number("c30", chain("c{0} + 1", 30)) == 31
    with pytest.raises(SpecError, match="takes more than 2000 steps"):
        number("c30", chain("c{0} + c{0}", 30))
    assert number("c30", chain("c{0} + 1", 30)) == 31  # the next one starts afresh
