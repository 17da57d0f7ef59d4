"""Every page of the built site in a browser, at two widths, light and dark. `make docs` builds it; `make test-all` does so first."""

import pathlib
from typing import Any

import pytest

from site_page import faults, listen

SITE = pathlib.Path(__file__).parents[2] / "build" / "site"
PAGES = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if "_static" not in p.parts)

pytestmark = [pytest.mark.slow, pytest.mark.interpreted]


def test_the_site_is_built() -> None:
    """Without it the tests below would have no page to look at."""
    assert "index.html" in PAGES, "run make docs"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page(browser: Any, width: int, scheme: str) -> None:
    """No console error, no request to the network, nothing wider than the window, readable text, no broken picture."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(200_000)  # milliseconds; on a busy machine a large page takes half a minute
    problems, found = listen(page), {}
    for name in PAGES:
        problems.clear()
        page.goto((SITE / name).as_uri())
        wrong = faults(page) + problems
        if wrong:
            found[name] = wrong
    assert found == {}


def test_search_works_offline(browser: Any) -> None:
    page = browser.new_page()
    problems = listen(page)
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=half_life")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    assert page.locator("#search-results li a").count() > 3
    assert problems == []
