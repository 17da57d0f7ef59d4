"""Every control of the lab, at two widths, light and dark."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lab_page import answered, opened
from lab_server import Served, served
from site_page import faults

START = {
    "bandit": "T=40&n=5&trials=2&learners=lb_weight_ucb,oful",
    "river": "world=river&T=20&trials=2&stages=3&states=4&learners=weight_ucrl,ucrl_vtr",
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Served]:
    with served() as own:
        yield own


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize("world", ["bandit", "river"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_in_every_light(browser: Any, lab: Served, world: str, width: int, scheme: str) -> None:
    """Each control once: no error, nothing wider than the window, readable text, an axis that fits the curves."""
    page = opened(browser, f"{lab.address}#{START[world]}", width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => (d.open = true))")
    visible = (
        "[...document.querySelectorAll('form :is(input, select)')].filter(n => n.checkVisibility() && !n.disabled)"
    )
    skipped = ("d", "n", "T", "K", "trials", "states", "stages")  # sizes: a larger world is not another control
    for k in range(page.evaluate(f"{visible}.length")):
        changed = page.evaluate(
            f"(() => {{ const node = {visible}[{k}];"
            f" if (!node || {json.dumps(skipped)}.includes(node.id) || node.value === 'drawn' || node.type === 'checkbox') return '';"
            " if (node.type === 'radio') { node.click(); return node.value; }"
            " if (node.tagName === 'SELECT') node.value = node.options[(node.selectedIndex + 1) % node.options.length].value;"
            " else node.value = node.type === 'range' ? (Number(node.max) * 0.3) : Number(node.value) + 1;"
            " node.dispatchEvent(new Event('input', { bubbles: true })); node.dispatchEvent(new Event('change', { bubbles: true }));"
            " return node.id; })()"
        )
        if not changed:
            continue
        answered(page)
        assert page.problems == [], changed
        assert page.evaluate("document.documentElement.scrollWidth") <= width, changed
        top = page.evaluate("Math.max(...lab.scene.curves.map(c => Math.max(c.high.at(-1), c.mean.at(-1))), 1e-9)")
        assert page.evaluate("lab.scene.axis.y[1]") == pytest.approx(1.04 * top), changed
    assert faults(page) == []
