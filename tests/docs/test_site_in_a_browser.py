"""Every page of the built site in a browser, at two widths, light and dark. `make docs` builds it; `make test-all` does so first."""

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from site_page import listen, misplaced, pale

SITE = pathlib.Path(__file__).parents[2] / "build" / "site"
PAGES = sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if "_static" not in p.parts)

pytestmark = [pytest.mark.slow, pytest.mark.interpreted]


def test_the_site_is_built() -> None:
    """Without it the tests below would have no page to look at."""
    assert "index.html" in PAGES, "run make docs"


SHARES = 8
WIDTHS = {
    1280: ("light", "dark"),
    390: ("dark", "light"),
}  # every page loads once; the window and its colours change under it


@pytest.mark.parametrize("share", range(SHARES))
def test_every_page(browser: Any, share: int) -> None:
    """No console error, no request to the network, nothing wider than the window, readable text, no broken picture."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.set_default_timeout(200_000)  # milliseconds; on a busy machine a large page takes half a minute
    problems, found = listen(page), {}
    for name in PAGES[share::SHARES]:
        problems.clear()
        page.emulate_media(color_scheme="light")
        page.goto((SITE / name).as_uri())
        wrong = [f"{look}: {fault}" for look, faults in looks(page) for fault in faults] + problems
        if wrong:
            found[name] = wrong
    assert found == {}


def looks(page: Any) -> Iterator[tuple[str, list[str]]]:
    """What is wrong at each width, and at each width in each of the two colour schemes."""
    for width, schemes in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        yield f"{width}", misplaced(page)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_selector(f'html[data-theme="{scheme}"]', state="attached")  # the theme follows a moment later
            yield f"{width} {scheme}", pale(page)


def test_search_works_offline(browser: Any) -> None:
    page = browser.new_page()
    problems = listen(page)
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=half_life")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    assert page.locator("#search-results li a").count() > 3
    assert problems == []
