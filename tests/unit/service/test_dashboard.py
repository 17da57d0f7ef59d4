"""The page of the service in a real browser."""

import json
import random
import urllib.request

import pytest
from served import listening

from driftbandits.service.keys import new_key

CARDS = (
    "#health",
    "#value .against svg",
    "#reward svg .curve",
    "#share svg .area",
    "#memories .memory",
    "#items tbody tr",
    "#why li",
    "#explore",
)


def _send(url, body, method="POST"):
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("data")) as url:
        _send(f"{url}/loops/shop", {"reward": "click"}, "PUT")
        _send(f"{url}/loops/new", {}, "PUT")
        rng = random.Random(0)
        for _ in range(60):
            made = _send(f"{url}/loops/shop/decide", {"items": {"<b>red</b>": {"price": 3.0}, "blue": {"price": 2.0}}})
            _send(f"{url}/loops/shop/reward", {"id": made["id"], "reward": int(rng.random() < 0.5)})
        yield url


@pytest.fixture
def page(browser, server):
    context = browser.new_context()
    made = context.new_page()
    made.faults = []
    made.on("console", lambda told: made.faults.append(told.text) if told.type == "error" else None)
    made.on("pageerror", lambda problem: made.faults.append(str(problem)))
    yield made
    context.close()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_a_loop_shows_its_numbers(page, server, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server}/#shop")
    page.wait_for_selector("#board:not([hidden])")
    for card in CARDS:
        page.wait_for_selector(card, state="attached")
    assert page.locator("#count-decisions").inner_text() == "60"
    assert page.locator("html").get_attribute("data-theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    names = page.locator("#items tbody td:first-child").all_inner_texts()
    assert sorted(names) == ["<b>red</b>", "blue"]  # markup of a client is text
    shown = [int(n) for n in page.locator("#items tbody td:nth-child(2)").all_inner_texts()]
    assert sum(shown) == 60
    assert shown == sorted(shown, reverse=True)
    assert page.faults == []


def test_it_is_live_and_sorts_and_changes_its_theme(page, server):
    page.goto(f"{server}/#shop")
    page.wait_for_selector("#board:not([hidden])")
    before = int(page.locator("#count-decisions").inner_text())
    _send(f"{server}/loops/shop/decide", {"items": ["<b>red</b>", "blue"]})
    page.wait_for_selector(f'#count-decisions:text-is("{before + 1}")', timeout=20000)
    page.click("#items thead button[data-key=item]")
    assert page.locator("#items tbody td:first-child").all_inner_texts() == ["<b>red</b>", "blue"]
    page.click("#items thead button[data-key=item]")
    assert page.locator("#items tbody td:first-child").all_inner_texts() == ["blue", "<b>red</b>"]
    theme = page.locator("html").get_attribute("data-theme")
    page.click("#theme")
    assert page.locator("html").get_attribute("data-theme") != theme
    assert page.faults == []


def test_a_loop_without_data_says_what_to_do(page, server):
    page.goto(f"{server}/")
    page.select_option("#loop", "new")
    page.wait_for_selector("#start:not([hidden])")
    assert "/loops/new/decide" in page.locator("#start-code").inner_text()
    assert page.locator("#board").is_hidden()
    page.click("#copy")
    assert page.faults == []


def test_without_loops_it_says_how_to_make_one(browser, tmp_path):
    with listening(tmp_path) as url:
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#start:not([hidden])")
        assert "curl -X PUT" in page.locator("#start-code").inner_text()
        page.close()


def test_a_loop_that_is_deleted_gives_way_to_another(page, server):
    _send(f"{server}/loops/brief", {}, "PUT")
    page.goto(f"{server}/#brief")
    page.wait_for_selector("#start:not([hidden])")
    _send(f"{server}/loops/brief?confirm=brief", {}, "DELETE")
    page.wait_for_selector("#loop:not(:has(option[value=brief]))", timeout=20000)
    page.wait_for_selector('#status:has-text("live")', timeout=20000)


def test_with_keys_the_lines_to_paste_have_one(browser, tmp_path):
    key = new_key(tmp_path / "keys.toml", "boss", "admin")
    with listening(tmp_path, keys=tmp_path / "keys.toml") as url:
        context = browser.new_context(http_credentials={"username": "any", "password": key})
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("#start:not([hidden])")
        assert page.locator("#start-code").inner_text().count("-H 'Authorization: Bearer KEY' -d") == 2
        context.close()


def test_the_documentation_needs_no_other_server_and_makes_calls(page, server):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{server}/docs")
    page.wait_for_selector("details")
    with urllib.request.urlopen(f"{server}/openapi.json") as answer:
        calls = [(path, method) for path, methods in json.load(answer)["paths"].items() for method in methods]
    assert page.locator("details").count() == len(calls) > 40
    decide = page.locator('details[id="post/loops/{loop}/decide"]')
    decide.locator("summary").click()
    assert "What is on offer" in decide.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    decide.locator("input[name=loop]").fill("new")
    decide.locator("textarea").fill('{"items": ["only"]}')
    decide.locator("button").click()
    page.wait_for_selector('pre.answer:has-text(\'"item":"only"\')')
    assert all(url.startswith(server) for url in asked)
    assert page.faults == []


@pytest.mark.parametrize("batch", ["decide_batch", "reward_batch"])
def test_every_reference_of_the_schema_resolves(server, batch):
    """Programs that make clients of it refuse a schema with a reference to nothing."""
    with urllib.request.urlopen(f"{server}/openapi.json") as answer:
        schema = json.load(answer)

    def references(inner):
        if isinstance(inner, dict):
            yield from ([inner["$ref"]] if isinstance(inner.get("$ref"), str) else [])
        for value in inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ():
            yield from references(value)

    for reference in references(schema):
        place = schema
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    entry = schema["paths"][f"/loops/{{loop}}/{batch}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert entry["items"]["type"] == "object"
