"""The report in a real browser: curves drawn, legend toggles, no error, no request."""

import html
import json
import pathlib
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

import made_up_panel
import small_experiment as small
from driftbandits.errors import CannotWrite
from driftbandits.experiment import load, publish
from driftbandits.experiment.write import report as report_module
from driftbandits.plots.style import DARK, PALETTE
from faults import READ_ONLY, faults


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
        "Of 2 claims, 1 holds on these trials",
    ):
        assert word in page, word
    head = page[: page.index("<script>")]
    assert "http://" not in head
    assert "https://" not in head
    assert "<!--" not in head


NASTY = [
    "<!--<script>",
    "<!--plotly-->",
    "</script><script>window.injected = 1</script>",
    "</title></style></pre><img src=x onerror='window.injected = 2'>",
    "\"' onmouseover='window.injected = 3' x='",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; %{x} <b>bold</b>",
    "]]>\u2028 ${injected}",
]


def nasty_page() -> str:
    """Every text of the page is one of these, once as every kind of text."""
    everything = " ".join(NASTY)
    panels = [made_up_panel.panel(NASTY, place=name, text=everything) for name in NASTY[:2]]
    panels.append(made_up_panel.panel(NASTY[::-1], text=everything, figure="scaling"))
    return report_module.page(panels, made_up_panel.settings(everything))


class Elements(HTMLParser):
    """Names of all elements, and the texts of some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.texts: dict[str, list[str]] = {"h1": [], "td": [], "script": []}
        self.inside = ""
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.texts:
            self.texts[self.inside][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def test_no_name_becomes_markup() -> None:
    page = Elements(nasty_page())
    plain = Elements(report_module.page([made_up_panel.panel(list("abcdefgh"))], made_up_panel.settings()))
    assert set(page.names) == set(plain.names)
    assert page.names["script"] == 3
    assert page.attributes == plain.attributes
    assert page.comments == []
    assert page.texts["h1"] == [" ".join(NASTY)]
    assert set(NASTY) <= set(page.texts["td"])
    figures = json.loads(page.texts["script"][0])
    names = {trace.get("name") for figure in figures.values() for trace in figure["data"]}
    assert {html.escape(name, quote=False) for name in NASTY} <= names
    assert "<" not in page.texts["script"][0]


def test_the_page_has_one_title_and_is_smaller_than_its_library(report: pathlib.Path) -> None:
    from plotly.offline import get_plotlyjs

    page = Elements(report.read_text())
    assert page.names["h1"] == page.names["title"] == 1
    assert report.read_text().count("A small comparison") == 3  # title, heading, specification
    assert report.stat().st_size < len(get_plotlyjs()) / 2


def test_the_report_of_a_folder_is_the_one_written_with_it(report: pathlib.Path) -> None:
    before = report.read_bytes()
    report.unlink()
    assert report_module.write_report(report.parent).read_bytes() == before


@pytest.mark.parametrize("n", range(1, 7))
def test_a_report_that_cannot_be_written_leaves_the_old_one(report: pathlib.Path, n: int) -> None:
    before = report.read_bytes()
    with (
        faults(n, error=READ_ONLY),
        pytest.raises(CannotWrite, match=r"report.html cannot be written: read-only file system$"),
    ):
        report_module.write_report(report.parent)
    assert report.read_bytes() == before
    assert not list(report.parent.rglob("*.part"))


def opened(browser: Any, path: pathlib.Path, width: int = 1200, **options: Any) -> Any:
    """The page, all its plots drawn, with what it complained about and asked for."""
    page = browser.new_page(viewport={"width": width, "height": 1000}, **options)
    page.set_default_timeout(120_000)
    page.problems, page.requests = [], []
    page.on(
        "console",
        lambda message: page.problems.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=120_000)
    page.evaluate("places.forEach(draw)")
    return page


@pytest.fixture(scope="module")
def page(report: pathlib.Path, browser: Any) -> Any:
    return opened(browser, report)


def test_nasty_names_do_nothing_in_a_browser(browser: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "nasty.html").write_text(nasty_page())
    page = opened(browser, tmp_path / "nasty.html")
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === places.length")
    assert page.evaluate("window.injected") is None
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.title() == " ".join([*NASTY, "· driftbandits"])
    assert set(NASTY[:-1]) <= set(page.locator(".legendtext").all_text_contents())


def test_a_phone_scrolls_in_one_direction_only(browser: Any, report: pathlib.Path) -> None:
    page = opened(browser, report, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.problems == []


def test_a_dark_window_has_a_dark_page_with_dark_plots_until_it_is_light(page: Any) -> None:
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === places.length")
    page.emulate_media(color_scheme="dark")
    back, plots = "getComputedStyle(document.body).backgroundColor", "places.map(p => p.layout.paper_bgcolor)"
    lines = "places.flatMap(p => p.data.flatMap(t => t.line?.color ?? []))"
    page.wait_for_function(f"{plots}.every(colour => colour === '#14181f')")
    assert page.evaluate(back) == "rgb(20, 24, 31)"
    assert DARK["red"] in page.evaluate(lines)
    assert PALETTE["red"] not in page.evaluate(lines)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{plots}.every(colour => colour === 'white')")
    assert page.evaluate(back) == "rgb(255, 255, 255)"
    assert PALETTE["red"] in page.evaluate(lines)
    assert page.problems == []


def test_reward_and_arms_stand_beside_regret(page: Any) -> None:
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === places.length")
    assert page.locator(".ytitle").all_text_contents()[:2] == ["cumulative regret", "reward per round"]
    assert page.locator(".plot.small .heatmaplayer image").count() == 2


def test_log_ticks_do_not_overlap(browser: Any, tmp_path: pathlib.Path) -> None:
    """Labels of every logarithmic axis: their boxes on the screen are apart."""
    (tmp_path / "page.html").write_text(
        report_module.page(
            [made_up_panel.panel(["a", "b"]), made_up_panel.panel(["c", "d"], figure="scaling")],
            made_up_panel.settings(),
        )
    )
    for width in (1200, 390):
        page = opened(browser, tmp_path / "page.html", width)
        page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === places.length")
        boxes = page.evaluate(BOXES)
        assert sum(map(len, boxes)) > 8
        for axis in boxes:
            for i, one in enumerate(axis):
                for other in axis[:i]:
                    apart = one[0] >= other[1] or other[0] >= one[1] or one[2] >= other[3] or other[2] >= one[3]
                    assert apart, (width, one, other)


BOXES = """places.flatMap(place => ["x", "y"].map(axis => [...place.querySelectorAll(`.${axis}tick text`)].map(text => {
    const box = text.getBoundingClientRect();
    return [box.left, box.right, box.top, box.bottom];
})))"""


def test_curves_are_drawn(page: Any) -> None:
    lines = page.eval_on_selector_all(
        ".plot .scatterlayer .trace path.js-line", "paths => paths.map(p => p.getAttribute('d').length)"
    )
    assert sum(length > 60 for length in lines) >= 2
    assert page.locator(".legendtext").all_text_contents()[:2] == ["OFUL", "LB-WeightUCB"]


def test_the_legend_toggles_a_curve(page: Any) -> None:
    shown = "document.querySelector('.plot').data.filter(t => t.visible !== 'legendonly').length"
    before = page.evaluate(shown)
    page.locator(".legendtoggle").first.click()
    page.wait_for_function(f"{shown} < {before}")
    page.locator(".legendtoggle").first.click()
    page.wait_for_function(f"{shown} === {before}")
    assert page.evaluate(shown) == before


def test_the_bound_starts_hidden_and_can_be_seen(page: Any) -> None:
    hidden = "document.querySelector('.plot').data.filter(t => t.name && t.name.includes('Theorem 1') && t.visible === 'legendonly').length"
    assert page.evaluate(hidden) == 1


def test_no_error_and_no_request(page: Any) -> None:
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
