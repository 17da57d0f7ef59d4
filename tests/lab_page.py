"""The lab's page in a browser: opening it, waiting for its answers, looking at it."""

import time
from typing import Any

from lab_server import PATIENCE

FINALS = "Object.fromEntries(lab.scene.curves.map(c => [c.learner, c.final]))"


def opened(browser: Any, address: str, width: int = 1280, **options: Any) -> Any:
    """The page with its first answer, what it complained about and what it asked for."""
    page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce", **options)
    page.set_default_timeout(1000 * PATIENCE)
    page.problems, page.requests = [], []
    page.on("console", lambda said: page.problems.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(address)
    answered(page)
    return page


def until(page: Any, condition: str) -> None:
    """Wait; the page's own policy forbids the evaluations that Playwright's waiting uses."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, (condition, page.locator("#status").text_content(), page.problems)
        time.sleep(0.02)


def answered(page: Any) -> None:
    """The newest question is answered in full, and drawn."""
    until(
        page,
        "!!window.lab && lab.timing.asked > 0 && !lab.asking.waiting"
        " && lab.timing.done === lab.timing.asked && lab.timing.sequence === lab.timing.asked",
    )


def pixels(page: Any, canvas: str) -> str:
    return str(page.evaluate(f"document.getElementById('{canvas}').toDataURL()"))


def move(page: Any, slider: str, value: int) -> None:
    """As a hand does: the value, and the event."""
    page.evaluate(
        f"(() => {{ const s = document.getElementById('{slider}'); s.value = {value};"
        " s.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )
    answered(page)
