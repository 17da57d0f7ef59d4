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
    max_examples=int(os.environ.get("EXAMPLES", 12 if INTERPRETED else 50)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")


#: Of these `make test` compiles no kernel, so that their tests run once: interpreted, where coverage sees them, unless marked `compiled`.
ONCE = (
    *("unit/cli", "unit/datasets", "unit/experiment", "unit/integrations", "unit/lab", "unit/plots", "unit/replay"),
    *(
        "unit/service",
        "unit/theory",
        "unit/mdp/test_environment.py",
        "unit/mdp/test_pictures.py",
        "docs",
        "benchmarks",
        "naive",
    ),
    *("unit/io", "unit/util", "unit/test_errors.py", "unit/agent/test_pending.py", "unit/test_repr.py"),
    *("contract/test_theorems.py", "statistical/test_replay.py"),
    # compositions of parts that the contract compiles, against their oracles
    *(
        "unit/zoo/test_generalized_linear.py",
        "unit/meta/test_adaptive.py",
        "unit/meta/test_master.py",
    ),
    *(
        "unit/model/test_bayes.py",
        "unit/memory/test_late.py",
        "unit/meta/test_igw_mix.py",
    ),
    *("unit/mdp/test_multinomial.py", "unit/mdp/test_tables.py"),
    *(  # what a bandit does around its kernels
        f"unit/bandit/test_{name}.py"
        for name in ("sqlite_store", "follower", "frames", "forget_feature", "offers", "kinds", "pending")
    ),
)
HERE = pathlib.Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before -m selects by the marks that are given here
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of each test which runs it belongs to, and which tests stay together in one process."""
    pages = {item.path for item in items if _looks_at_a_page(item)}
    for item in items:
        if _looks_at_a_page(item) and not item.get_closest_marker("interpreted"):
            item.add_marker(pytest.mark.compiled)  # a page is looked at once
        if _runs_once(item) and not item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.interpreted)
        if item.path in pages:
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif not INTERPRETED and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))  # two would compile the same code


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Stop if tests that stay together would be torn apart: their processes would wait for each other's compilations."""
    grouped = node.config.getoption("dist") == "loadgroup" and not INTERPRETED
    if grouped and not all("@" in name for name in ids):  # a worker writes the group behind the name of the test
        raise pytest.UsageError(f"pytest-xdist does not group tests of pytest {pytest.__version__} (its issue 1386)")


def _looks_at_a_page(item: pytest.Item) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


def _runs_once(item: pytest.Item) -> bool:
    """An example in a docstring, or a test of what is never compiled."""
    return isinstance(item, pytest.DoctestItem) or any(item.path.is_relative_to(HERE / place) for place in ONCE)


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
