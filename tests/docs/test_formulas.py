"""Formulas as a browser draws them: what docutils makes of LaTeX is repaired, and indices in prose are set below the line."""

from xml.etree import ElementTree

import pytest
from pages.formulas import MATHML, prepared, repaired
from pages.indices import pieces

M = f"{{{MATHML}}}"


def tree(inner):
    return ElementTree.fromstring(repaired(f'<math xmlns="{MATHML}">{inner}</math>'))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\frac12\log\frac1\delta", r"\frac{1}{2}\log\frac1\delta"),
        (r"\dfrac 14", r"\dfrac{1}{4}"),
        (r"\frac{12}{5}", r"\frac{12}{5}"),
    ],
)
def test_the_digits_of_a_short_fraction_are_two_numbers(written, read):
    assert prepared(written) == read


@pytest.mark.parametrize("accent", ["ˆ", "ˉ", "~"])
def test_the_index_of_a_letter_with_an_accent_is_beside_it(accent):
    root = tree(f"<munderover><mi>β</mi><mi>w</mi><mo>{accent}</mo></munderover>")
    assert root[0].tag == f"{M}msub"
    assert [child.tag for child in root[0]] == [f"{M}mover", f"{M}mi"]


def test_an_index_and_an_exponent_stand_above_each_other():
    root = tree("<msup><munderover><mi>β</mi><mi>w</mi><mo>ˉ</mo></munderover><mi>k</mi></msup>")
    assert root[0].tag == f"{M}msubsup"
    assert [child.text for child in root[0][1:]] == ["w", "k"]


def test_bars_of_a_norm_have_one_size_and_no_space():
    """The closing bar of a norm carries its index, and would be the only small one."""
    root = tree("<mo>‖</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><msub><mo>‖</mo><mi>V</mi></msub><mo>|</mo>")
    bars = list(root.iter(f"{M}mo"))
    assert [(bar.get("stretchy"), bar.get("lspace"), bar.get("rspace")) for bar in bars] == [("false", "0", "0")] * 3


def test_bars_between_left_and_right_grow():
    root = tree("<mrow><mo>|</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>|</mo></mrow>")
    assert [node.get("stretchy") for node in root.iter(f"{M}mo")] == [None, None]


def test_a_bar_that_only_begins_a_row_does_not_grow():
    root = tree("<mrow><mo>‖</mo><mi>w</mi><mo>‖</mo><mo>≤</mo><mi>S</mi></mrow>")
    assert [node.get("stretchy") for node in root.iter(f"{M}mo")][:2] == ["false", "false"]


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("P_h^k(·|s,a)", "P<_h><^k>(·|s,a)"),
        ("V^{π^k}_1(s_1^k)", "V<^π^k><_1>(s<_1><^k>)"),
        ("β_θ‖φ‖_{Λ⁻¹}", "β<_θ>‖φ‖<_Λ⁻¹>"),
        ("k_μ^{5/4}c_μ^{−3/4}, λc_μ", "k<_μ><^5/4>c<_μ><^−3/4>, λc<_μ>"),
        ("Σ w_sX_sX_sᵀ, θ̂_t, argmax_x", "Σ w<_s>X<_s>X<_s>ᵀ, θ̂<_t>, argmax<_x>"),
        ("γ^age and 2^{3/4}", "γ<^age> and 2<^3/4>"),
        ("weight_ucrl, S_theta, s_next, max_pending, __init__, 10_000, bandit_explore_0", None),
    ],
)
def test_indices_of_symbols_and_not_of_names(written, drawn):
    found = "".join(f"<{place}{text}>" if place else text for place, text in pieces(written))
    assert found == (drawn or written)
