"""The report in a real browser: curves drawn, legend toggles, no error, no request."""

import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import small

from driftbandits.experiment import load, publish

PLACES = ("/usr/bin/chromium", shutil.which("chromium") or "", shutil.which("google-chrome") or "")
CHROMIUM = next((place for place in PLACES if place and pathlib.Path(place).exists()), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("report")
    done = publish("small", [load(small.write(folder))], folder / "out")
    assert done.report is not None
    return done.report


def test_the_page_is_complete_without_the_network(report: pathlib.Path) -> None:
    page = report.read_text()
    for word in (
        "LB-WeightUCB",
        "OFUL",
        "95 % interval",
        "µs per round",
        "Theorem 1",
        "wang2023revisiting",
        "lb_gamma",
        "numba",
        "1 of 2",
    ):
        assert word in page, word
    head = page[: page.index("<script>")]
    assert "http://" not in head
    assert "https://" not in head
    assert "<!--" not in head


@pytest.fixture(scope="module")
def page(report: pathlib.Path) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip(
            "NO CHROMIUM FOUND: the report was not looked at in a browser; apt-get install chromium to run this test"
        )
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.problems, page.requests = [], []
        page.on(
            "console",
            lambda message: page.problems.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(report.as_uri())
        page.wait_for_selector(".js-plotly-plot .scatterlayer .trace")
        yield page
        browser.close()


def test_curves_are_drawn(page: Any) -> None:
    lines = page.eval_on_selector_all(
        ".plot .scatterlayer .trace path.js-line", "paths => paths.map(p => p.getAttribute('d').length)"
    )
    assert sum(length > 60 for length in lines) >= 2
    assert page.locator(".legendtext").all_inner_texts()[:2]


def test_the_legend_toggles_a_curve(page: Any) -> None:
    shown = "document.querySelector('.plot').data.filter(t => t.visible !== 'legendonly').length"
    before = page.evaluate(shown)
    page.locator(".legendtoggle").first.click()
    page.wait_for_function(f"{shown} < {before}")
    page.locator(".legendtoggle").first.click()
    page.wait_for_function(f"{shown} === {before}")


def test_the_bound_starts_hidden_and_can_be_seen(page: Any) -> None:
    hidden = "document.querySelector('.plot').data.filter(t => t.name && t.name.includes('Theorem 1') && t.visible === 'legendonly').length"
    assert page.evaluate(hidden) == 1


def test_no_error_and_no_request(page: Any) -> None:
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
