"""Settings for all tests: reproducible hypothesis runs, smaller sizes where kernels are interpreted, one browser."""

import os
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")  # no child processes; where they are the subject, a test says so

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("EXAMPLES", 25 if INTERPRETED else 100)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page is looked at once, in the compiled run unless its test says otherwise, and by one process, which has the browser."""
    modules = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    for item in items:
        if item.path in modules:
            item.add_marker(pytest.mark.xdist_group("browser"))
            if "browser" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("interpreted"):
                item.add_marker(pytest.mark.compiled)


PLACES = ("/usr/bin/chromium", shutil.which("chromium") or "", shutil.which("google-chrome") or "")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(
    scope="module"
)  # not longer: while it is open, no test of this process can have an event loop of its own
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    chromium = next((place for place in PLACES if place and pathlib.Path(place).exists()), None)
    if chromium is None:
        pytest.skip("NO CHROMIUM FOUND: no page was looked at in a browser; apt-get install chromium to run this test")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()
