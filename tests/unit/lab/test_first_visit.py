"""What a visitor meets: a story, one sentence, labels; and a way out of links and servers that do not work."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from driftbandits.lab.learners import DEFAULTS, LEARNERS
from driftbandits.plots.style import ROLE_COLOURS
from lab_page import FINALS, answered, move, opened, pixels, until
from lab_server import Served, served
from site_page import faults

pytestmark = pytest.mark.interpreted  # pages, not kernels; compiled, they would wait for the compiler

SMALL = "T=60&n=6&trials=3"
TWO = f"{SMALL}&learners=lb_weight_ucb,oful"


@pytest.fixture(scope="module")
def lab() -> Iterator[Served]:
    with served() as own:
        yield own


def test_a_link_function_that_changes_while_time_plays_leaves_axis_and_curves_of_one_question(
    browser: Any, lab: Served
) -> None:
    """The learners of the new link are listed before its curves come; frames drawn in between are of the old ones."""
    page = opened(browser, f"{lab.address}#{TWO}")
    page.evaluate(
        "(() => { const link = document.getElementById('link-kind'); link.value = 'logistic';"
        " link.dispatchEvent(new Event('change', { bubbles: true })); lab.drawNow(); })()"
    )
    answered(page)
    assert page.problems == []
    again = opened(browser, page.url)
    for one in (page, again):
        one.locator(".circle .scrub").fill("10")
    until(page, "lab.scene.frame === 10")
    page.wait_for_timeout(100)
    assert page.evaluate("lab.scene.axis") == again.evaluate("lab.scene.axis")
    top = page.evaluate("Math.max(...lab.scene.curves.map(c => c.high.at(-1)))")
    assert page.evaluate("lab.scene.axis.y[1]") == pytest.approx(1.04 * top)
    assert pixels(page, "regret") == pixels(again, "regret")
    assert again.problems == []


def test_a_view_that_fails_leaves_no_clip_behind(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    page.evaluate("lab.drawNow()")
    before = pixels(page, "regret")
    failed = page.evaluate(
        "(async () => { const plot = await import('/plot.js'); const canvas = document.getElementById('regret');"
        " try { plot.paint(canvas, pen => plot.inside(pen, { left: 0, right: 9, top: 0, bottom: 9 }, () => { throw new Error('no'); })); }"
        " catch (problem) { lab.drawNow(); return problem.message; } })()"
    )
    assert failed == "no"
    assert pixels(page, "regret") == before


def test_while_code_is_compiled_the_old_picture_is_grey_and_says_why(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    page.evaluate("lab.asking.onStart(lab.scene.question, performance.now(), lab.timing.asked)")
    page.evaluate("lab.asking.onEvent({ kind: 'compiling', names: ['SW-UCB'] }, lab.timing.asked)")
    note = page.locator("#busy-note")
    assert note.is_visible()
    assert "Compiling SW-UCB" in note.text_content()
    assert "seconds" in note.text_content()
    assert page.evaluate("getComputedStyle(document.getElementById('regret')).filter") == "grayscale(1)"
    assert page.evaluate("lab.scene.waiting") == ""  # nothing is written below the note
    move(page, "noise", 40)
    assert not note.is_visible()
    assert page.evaluate("getComputedStyle(document.getElementById('regret')).filter") == "none"


def test_curves_that_came_before_the_compiler_is_done_are_not_grey_and_none_is_older(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    assert page.evaluate("lab.scene.curves.length") == 2
    page.evaluate(
        "(() => { const [one] = lab.scene.curves, next = lab.timing.asked + 1;"
        " lab.asking.onStart(lab.scene.question, performance.now(), next);"
        " lab.asking.onEvent({ ...one, kind: 'curve' }, next);"
        " lab.asking.onEvent({ kind: 'compiling', names: ['SW-UCB'] }, next); })()"
    )
    assert page.evaluate("lab.scene.curves.length") == 1
    assert page.locator("#busy-note").is_visible()
    assert page.evaluate("getComputedStyle(document.getElementById('regret')).filter") == "none"
    assert "lost" in page.locator("#headline").text_content()


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("path=banana", "path = banana is none of rotating, jumps, walk, seasonal, drawn"),
        ("noise=loud", "noise = loud is no number"),
        ("horizn=3", "there is no “horizn”"),
        ("points=1,2,3;4", "are no points"),
    ],
)
def test_a_link_that_is_not_understood_is_one_line_and_the_page_lives(
    browser: Any, lab: Served, link: str, told: str
) -> None:
    page = opened(browser, f"{lab.address}#{link}&n=6&trials=3&T=60&learners=oful")
    assert told in page.locator("#problem-text").text_content()
    assert page.evaluate(FINALS)["oful"] > 0
    assert page.problems == []
    page.route("**/api/run", lambda route: route.fulfill(body=""))  # the default world is of full size
    page.locator("#problem-action").click()
    assert not page.locator("#problem").is_visible()
    assert page.url == f"{lab.address}#"


def test_a_refused_question_has_a_way_out(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    page.evaluate("location.hash = '#T=-5'")
    until(page, "!document.getElementById('problem').hidden")
    assert "T = -5 is not allowed" in page.locator("#problem-text").text_content()
    assert page.locator("#problem-action").text_content() == "Start over"
    page.evaluate(f"location.hash = '#{TWO}'")
    answered(page)
    assert not page.locator("#problem").is_visible()


def test_a_server_that_stopped_is_said_and_tried_again(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    page.route("**/api/run", lambda route: route.abort("connectionrefused"))
    page.evaluate(
        "(() => { const s = document.getElementById('noise'); s.value = 30; s.dispatchEvent(new Event('input')); })()"
    )
    until(page, "!document.getElementById('problem').hidden")
    assert "driftbandits lab" in page.locator("#problem-text").text_content()
    page.unroute("**/api/run")
    page.locator("#problem-action").click()
    answered(page)
    assert not page.locator("#problem").is_visible()
    assert page.evaluate("lab.scene.question.noise") == 0.3


def test_one_sentence_has_the_numbers_of_the_curves(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{SMALL}")
    finals = page.evaluate(FINALS)
    assert set(finals) == set(DEFAULTS["linear"])
    words = page.locator("#headline").text_content()
    assert f"never forgets lost {finals['oful']:.0f}; the tuning-free one {finals['self_tuning']:.0f}:" in words
    assert f"(LB-WeightUCB): {finals['lb_weight_ucb']:.0f}." in words


def test_the_verdict_of_the_sentence(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    looks = [{"key": "a", "role": "never forgets"}, {"key": "b", "role": "tuning-free"}]
    for never, free, std, verdict in (
        (4393, 712, 50, "six times less."),
        (1000, 700, 50, "30 % less."),
        (700, 1000, 50, "the first lost 30 % less."),
        (1000, 990, 200, "no clear difference in 20 trials."),
        (1000, 0.2, 1, "far less."),
        (0.57, 1.2, 0.01, "the first lost two times less."),
        (3.124, 2.2, 0.01, "30 % less."),
    ):
        curves = [
            {"learner": key, "mean": [1], "final": final, "std": std} for key, final in (("a", never), ("b", free))
        ]
        said = page.evaluate(
            f"import('/story.js').then(s => s.sentence({json.dumps(curves)}, {json.dumps(looks)}, {{ trials: 20 }}))"
        )
        told = [f"{v:.2g}" if v < 10 else f"{v:,}" for v in (never, free)]
        assert said == f"A learner that never forgets lost {told[0]}; the tuning-free one {told[1]}: {verdict}"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_first_page_is_readable_and_fits(browser: Any, lab: Served, width: int, scheme: str) -> None:
    page = opened(browser, f"{lab.address}#{TWO}", width=width, color_scheme=scheme)
    page.locator("#tour-start").click()
    assert faults(page) == []
    page.locator("#tour-skip").click()
    page.locator("#toml").click()
    until(page, "document.getElementById('export').open")
    assert faults(page) == []
    assert page.problems == []


def test_the_story_has_five_worlds(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    page.route(
        "**/api/run", lambda route: route.fulfill(body="")
    )  # the worlds are of full size; here only what is asked matters
    asked = []
    for number in range(5):
        page.locator("#story button").nth(number).click()
        assert page.locator("#story button[aria-pressed=true]").count() == 1
        assert len(page.locator("#story-text").text_content()) > 30
        asked.append(page.evaluate("[lab.scene.form.path, lab.scene.form.speed, lab.scene.form.link]"))
    assert asked == [
        ["rotating", 0, "identity"],
        ["rotating", 1, "identity"],
        ["jumps", 2, "identity"],
        ["seasonal", 2, "identity"],
        ["jumps", 2, "logistic"],
    ]


def test_before_the_first_curve_the_page_says_what_it_asks_and_which_world_it_is(browser: Any, lab: Served) -> None:
    """The default world is the second of the story; code is compiled for seconds before its sentence has numbers."""
    page = browser.new_page(reduced_motion="reduce")
    page.route("**/api/run", lambda route: route.fulfill(body=""))
    page.goto(lab.address)
    until(page, "!!window.lab && lab.timing.asked > 0")
    assert "How much reward" in page.locator("#headline").text_content()
    assert page.locator("#story button[aria-pressed=true]").text_content() == "2 Slow drift"
    assert "once around the circle" in page.locator("#story-text").text_content()


def test_the_tour_has_four_steps_and_can_be_skipped(browser: Any, lab: Served) -> None:
    page = opened(browser, f"{lab.address}#{TWO}")
    tour = page.locator("#tour")
    assert not tour.is_visible()  # a link shows what it is about
    page.locator("#tour-start").click()
    titles = []
    while tour.is_visible():
        titles.append(page.locator("#tour-title").text_content())
        assert page.locator(".toured").count() == 1
        page.locator("#tour-next").click()
    assert len(set(titles)) == 4
    page.locator("#tour-start").click()
    page.keyboard.press("Escape")
    assert not tour.is_visible()


def test_the_river_view_cuts_no_text(browser: Any, lab: Served) -> None:
    """Every text of the view lies inside its canvas, on a desk and on a phone."""
    for width in (1280, 390):
        page = opened(
            browser,
            f"{lab.address}#world=river&T=20&trials=2&stages=3&states=4&speed=1&learners=adaptive_ucrl,ucrl_vtr",
            width=width,
        )
        outside = page.evaluate(
            "(() => { const canvas = document.getElementById('stream'), pen = canvas.getContext('2d'), found = [];"
            " const original = pen.fillText; pen.fillText = function (words, x, y) { const m = pen.measureText(words);"
            " if (x - m.actualBoundingBoxLeft < 0 || x + m.actualBoundingBoxRight > canvas.clientWidth"
            " || y - m.actualBoundingBoxAscent < 0 || y + m.actualBoundingBoxDescent > canvas.clientHeight) found.push([words, x, y]);"
            " found.total = (found.total ?? 0) + 1; original.call(pen, words, x, y); };"
            " lab.drawNow(); delete pen.fillText; return [found, found.total]; })()"
        )
        assert outside[0] == []
        assert outside[1] > 10
        assert page.problems == []


@pytest.mark.parametrize("place", list(LEARNERS))
def test_learners_have_the_colour_of_their_role_and_no_two_look_alike(place: Any) -> None:
    for learner in LEARNERS[place]:
        assert learner.colour in ROLE_COLOURS[learner.role], learner.key
    looks = [(learner.colour, learner.line) for learner in LEARNERS[place]]
    assert len(looks) == len(set(looks))
    roles = {learner.key: learner.role for learner in LEARNERS[place]}
    assert [roles[key] for key in DEFAULTS[place]] == ["tuning-free", "never forgets", "fixed forgetting"]
