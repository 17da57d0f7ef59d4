"""Every endpoint, and everything that is refused: one line of JSON."""

from collections.abc import Iterator
from typing import Any

import pytest

from driftbandits.errors import InvalidValue
from driftbandits.lab.server import LARGEST, listener
from lab_server import Served, served

SMALL = {"T": 30, "trials": 2, "n": 5, "learners": ["lb_weight_ucb", "oful"]}


@pytest.fixture(scope="module")
def lab() -> Iterator[Served]:
    with served() as own:
        yield own


def test_the_page_and_its_files(lab: Served) -> None:
    page = lab.request("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    files = ["lab.css", "lab.js", "plot.js", "views.js", "asking.js", "state.js", "icon.svg"]
    for name in files:
        answer = lab.request("GET", f"/{name}")
        assert answer.status == 200, name
        assert "https://" not in answer.body, name
        assert "http://" not in answer.body.replace("http://www.w3.org/2000/svg", ""), name


def test_the_options_list_every_learner(lab: Served) -> None:
    options = lab.request("GET", "/api/options").data
    assert {place: len(rows) for place, rows in options["learners"].items()} == {
        "linear": 17,
        "generalized": 16,
        "river": 5,
    }
    assert options["default"]["T"] == 6000
    assert all(row["summary"] for rows in options["learners"].values() for row in rows)


def test_an_answer_is_lines_of_json(lab: Served) -> None:
    answer = lab.post("/api/run", SMALL)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [event["kind"] for event in answer.events][-1] == "done"
    assert {event["learner"] for event in answer.events if event["kind"] == "curve"} == {"lb_weight_ucb", "oful"}


def test_an_export_is_toml_and_python(lab: Served) -> None:
    told = lab.post("/api/export", SMALL).data
    assert told["toml"].startswith("[experiment]")
    compile(told["python"], "lab.py", "exec")


@pytest.mark.parametrize("path", ["/api/run", "/api/export"])
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"T": 0}, "T = 0 is not allowed; it must be a whole number in 2..60000"),
        ("{", "not valid JSON: Expecting property name"),
        ('{"gamma": NaN}', "not valid JSON: NaN is no number"),
        ("[" * 50_000, "not valid JSON"),
        ("[]", "a question must be a JSON object, not list"),
        ("", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (" " * (LARGEST + 1), f"a question may have {LARGEST} bytes; this one has more"),
        ({**SMALL, "learners": []}, "choose at least one learner"),
    ],
)
def test_bad_questions_are_one_line(lab: Served, path: str, body: Any, line: str) -> None:
    answer = lab.post(path, body)
    assert answer.status == 400
    assert list(answer.data) == ["error"]
    assert line in answer.data["error"]
    assert "\n" not in answer.data["error"]


def test_what_is_not_there(lab: Served) -> None:
    for method, path in (
        ("GET", "/nothing"),
        ("GET", "/../server.py"),
        ("GET", "/api/run"),
        ("POST", "/"),
        ("DELETE", "/"),
    ):
        answer = lab.request(method, path)
        assert answer.status in (404, 405), path
        assert "does not exist in the lab" in answer.data["error"]


def test_only_json_is_read(lab: Served) -> None:
    """A form of another site can be posted without asking the browser; JSON cannot."""
    answer = lab.post("/api/run", SMALL, content_type="text/plain")
    assert answer.status == 400
    assert answer.data["error"] == "content-type 'text/plain' is not allowed; it must be application/json"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil:1", "", "[::2]", "x@localhost"],
)
def test_other_hosts_are_refused(lab: Served, host: str) -> None:
    """A name that an attacker points at 127.0.0.1 is still another name (DNS rebinding)."""
    for answer in (lab.request("GET", "/", host=host), lab.post("/api/run", SMALL, host=host)):
        assert answer.status == 403
        assert answer.data["error"].startswith("the lab answers only on this machine")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_this_machine_has_three_names(lab: Served, host: str) -> None:
    for name in (host, f"{host}:{lab.port}"):
        assert lab.request("GET", "/", host=name).status == 200
        assert lab.request("GET", "/", host=name, origin=f"http://{name}").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null", "http://localhost:1"])
def test_pages_of_other_sites_are_refused(lab: Served, origin: str) -> None:
    answer = lab.post("/api/run", SMALL, origin=origin)
    assert answer.status == 403
    assert answer.data["error"].startswith("the lab answers only its own page")


def test_links_of_other_sites_are_refused(lab: Served) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert lab.request("GET", "/", sec_fetch_site=site).status == status


def test_it_listens_on_loopback_only_and_a_port_in_use_is_one_line() -> None:
    with listener(0) as own:
        assert own.getsockname()[0] == "127.0.0.1"
        own.listen()
        with pytest.raises(
            InvalidValue, match=r"^port \d+ cannot be used: address already in use; --port 0 takes a free"
        ):
            listener(own.getsockname()[1])
