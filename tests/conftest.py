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

#: Whether this is `make test-all`, which asks for more examples of each property and for more attempts where tests count them.
THOROUGH = int(os.environ.get("EXAMPLES", 0)) >= 100


def sized(quick: int, thorough: int) -> int:
    """How often a test tries something: a few times in `make test`, more often in `make test-all`."""
    return thorough if THOROUGH else quick


settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("EXAMPLES", 12 if INTERPRETED else 50)),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")


#: Of these `make test` compiles no kernel, so that their tests run once: interpreted, where coverage sees them, unless marked `compiled`.
#: `make test-all` compiles them too.
ONCE = (
    # what calls no kernel
    *("unit/cli", "unit/datasets", "unit/driftbench", "unit/experiment", "unit/features", "unit/inference"),
    *("unit/integrations", "unit/io", "unit/lab", "unit/plots", "unit/replay", "unit/service", "unit/tables"),
    *("unit/theory", "unit/util", "unit/test_errors.py", "unit/test_repr.py", "unit/agent/test_pending.py"),
    *("docs", "benchmarks", "naive", "contract/test_numbers.py", "contract/test_theorems.py"),
    *("unit/zoo/test_record.py", "unit/zoo/test_roles.py", "unit/zoo/test_assumptions.py"),
    # Compositions of parts against their oracles: the interpreted kernel is the same source. What is compiled of each kind: the contract
    # (bandits and episodes), unit/zoo/test_linear.py, unit/memory, unit/env, unit/simulate, unit/agent/test_agent.py.
    *("unit/meta", "unit/model", "unit/mdp", "unit/radius", "unit/memory/test_late.py", "unit/agent/test_one_pass.py"),
    *(f"unit/zoo/test_{name}.py" for name in ("bayes", "generalized_linear", "one_pass")),
)
#: The tests of `Bandit`, and of what spends its time in one, run once too, but compiled unless marked `interpreted`: its machine code is
#: compiled once for all of them (about a minute), and after that a reward takes a hundredth of the time. They come first: compiling takes
#: longest.
BANDIT = (
    *("unit/bandit", "statistical/test_replay.py", "docs/test_value.py"),
    *(f"unit/replay/test_{name}.py" for name in ("evaluation", "forecast", "policies", "result", "shares")),
)
HERE = pathlib.Path(__file__).parent


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Do not import a file of which this run selects no test: collecting all of them takes each process half a minute."""
    if not collection_path.name.startswith("test_"):
        return None
    asked = config.getoption("markexpr")
    of_bandit = _is_in(collection_path, *BANDIT)
    if "not interpreted" in asked and not of_bandit and _is_in(collection_path, *ONCE):
        words = ("mark.compiled", "browser")  # a page is looked at compiled
    elif "not compiled" in asked and of_bandit:
        words = ("mark.interpreted",)
    else:
        return None
    return True if not any(word in collection_path.read_text(encoding="utf-8") for word in words) else None


@pytest.hookimpl(tryfirst=True)  # before -m selects by the marks that are given here
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of each test which runs it belongs to, and which tests stay together in one process."""
    pages = {item.path for item in items if _looks_at_a_page(item)}
    items.sort(key=lambda item: _start(item, pages))
    for item in items:
        if (_looks_at_a_page(item) or _is_in(item.path, *BANDIT)) and not item.get_closest_marker("interpreted"):
            item.add_marker(pytest.mark.compiled)  # once
        if _runs_once(item) and not item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.interpreted)
        if item.path in pages:
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif not item.get_closest_marker("xdist_group"):
            # Two processes would compile the same code, and build what the tests of a file share twice.
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Stop if tests that stay together would be torn apart: their processes would wait for each other's compilations."""
    grouped = node.config.getoption("dist") == "loadgroup"
    if grouped and not all("@" in name for name in ids):  # a worker writes the group behind the name of the test
        raise pytest.UsageError(f"pytest-xdist does not group tests of pytest {pytest.__version__} (its issue 1386)")


def _start(item: pytest.Item, pages: set[pathlib.Path]) -> int:
    """When a test starts: one process begins with the group that compiles `Bandit`, the other with the pages, which are the longest."""
    if not _is_in(item.path, *BANDIT):
        return 1 if item.path in pages else 3
    group = item.get_closest_marker("xdist_group")
    return 0 if group is not None and group.args == ("bandit",) else 2


def _looks_at_a_page(item: pytest.Item) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


def _runs_once(item: pytest.Item) -> bool:
    """An example in a docstring, or a test of what is never compiled."""
    return isinstance(item, pytest.DoctestItem) or _is_in(item.path, *ONCE)


def _is_in(path: pathlib.Path, *places: str) -> bool:
    return any(path.is_relative_to(HERE / place) for place in places)


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


@pytest.fixture(autouse=True)
def _close_pages(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close the pages that a test opened: a page that stays open goes on drawing while later tests run."""
    if "browser" not in request.fixturenames:
        yield
        return
    browser = request.getfixturevalue("browser")
    kept = list(browser.contexts)  # pages of the whole file have been opened before
    yield
    for context in browser.contexts:
        if context not in kept:
            context.close()
