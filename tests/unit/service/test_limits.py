"""Whatever is sent, the answer is a success or one line that says what is allowed."""

import contextlib
import json
import random
import socket
import time

import pytest
from served import called, listening

from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.settings import LARGEST, LoopSettings


def test_limits_of_requests(tmp_path):
    limits = {"max_body": 2000, "max_items": 5, "max_name": 20, "max_depth": 6, "max_batch": 3}
    with called(tmp_path, **limits) as client:
        client.put("/loops/a")

        def decide(**body):
            answer = client.post("/loops/a/decide", json=body)
            return answer.status_code, answer.json().get("error", {}).get("code")

        assert decide(items=["x"])[0] == 200
        assert decide(items=["x"] * 1000) == (413, "too_large")
        assert client.post("/loops/a/decide", content=(b"x" * 500 for _ in range(9))).status_code == 413
        assert decide(items=[str(n) for n in range(6)]) == (422, "too_many_items")
        assert decide(items=["x" * 21]) == (422, "too_long")
        assert decide(items={"x": {"f" * 21: 1}}) == (422, "too_long")
        assert decide(items={"x\0": None})[0] == 422
        assert decide(items={"x": {"a": {"b": {"c": {"d": {"e": {}}}}}}}) == (422, "too_deep")
        assert client.post("/loops/a/decide", content=b"[" * 1999).status_code in (400, 422)
        assert client.post("/loops/a/decide", content=b"{nonsense").json()["error"]["code"] == "malformed"
        assert client.post("/loops/a/decide_batch", json=[{"items": ["x"]}] * 4).status_code == 422
        assert client.post("/loops/a/decide_batch", json=[]).status_code == 422
        assert client.request("BREW", "/loops/a").status_code == 405


def test_features_are_counted(tmp_path):
    with called(tmp_path, max_features=5) as client:
        client.put("/loops/a")
        many, vector = {f"f{n}": 1 for n in range(6)}, {"v": [0.5] * 5, "x": 1}

        def refused(path="decide", **body):
            answer = client.post(f"/loops/a/{path}", json=body)
            error = answer.json().get("error", {})
            assert "\n" not in error.get("message", "")
            return answer.status_code, error.get("code")

        no = (422, "too_many_features")
        assert refused(items=["x"], context=many) == no
        assert refused(items={"x": None, "y": many}) == no
        assert refused(items={"x": vector}) == no
        assert refused(items={"x": [0.5] * 6}) == no
        assert refused("estimate", items={"x": vector}) == no
        rank = {"actions": [{"id": "x", "features": [{"deep": many}]}]}
        assert refused("personalizer/rank", **rank) == no
        slots = {"slots": [{"id": "s", "baselineAction": "x"}], "actions": [{"id": "x"}], "contextFeatures": [many]}
        assert refused("personalizer/multislot/rank", **slots) == no
        assert client.post("/loops/a/decide_batch", json=[{"items": ["x"]}, {"items": {"x": many}}]).status_code == 422
        assert client.get("/loops/a").json()["info"]["decisions"] == 0
        assert refused(items={"x": {"v": [0.5] * 4, "x": 1}})[0] == 200


@pytest.mark.parametrize("features", ["interact", "hybrid", "disjoint"])
def test_no_caller_can_make_a_model_of_any_size(tmp_path, features):
    """200 items with 100 features of the context each had a model of 2 GB."""
    items, wide = [f"item {n}" for n in range(200)], {f"f{n}": float(n) for n in range(100)}
    with called(tmp_path, max_memory=8) as client:
        client.put("/loops/a", json={"features": features})
        assert client.post("/loops/a/decide", json={"items": items[:3], "context": {"f0": 1.0}}).status_code == 200
        before = client.get("/loops/a").json()["info"]
        for body in ({"items": items, "context": wide}, {"items": items * 1, "context": wide | {"g": "x"}}):
            answer = client.post("/loops/a/decide", json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
            message = answer.json()["error"]["message"]
            assert "MiB; at most 8 are allowed" in message
            assert "\n" not in message
        after = client.get("/loops/a").json()["info"]
        assert (after["decisions"], after["items"], after["columns"]) == (1, before["items"], before["columns"])
        assert client.post("/loops/a/decide", json={"items": items, "context": {"f0": 2.0}}).status_code == 200


@pytest.mark.parametrize("name", ["buckets", "max_items", "max_pending"])
def test_sizes_of_a_loop_are_bounded(tmp_path, name):
    with called(tmp_path) as client:
        answer = client.put("/loops/a", json={name: 10**9})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_large")
        assert f"{name} = 1000000000 is not allowed; it must be ≤" in answer.json()["error"]["message"]
        assert client.get("/loops/a").status_code == 404
        assert client.put("/loops/a", json={name: 10**60}).status_code == 422
        assert client.put("/loops/a", json={name: LARGEST[name] // 100}).status_code == 201


ODD = (
    None,
    True,
    0,
    -1,
    1,
    2,
    10**30,
    -(10**400),
    1e308,
    5e-324,
    "",
    "a",
    "b",
    "\0",
    "é",
    "\ud800",
    [],
    {},
    [[]],
    "x" * 300,
)
PATHS = (
    "",
    "/decide",
    "/decide_batch",
    "/activate",
    "/reward",
    "/reward_batch",
    "/value",
    "/events",
    "/explain/a",
    "/none",
)


def odd(rng, depth=0):
    kind = rng.random()
    if depth > 3 or kind < 0.5:
        return rng.choice(ODD)
    if kind < 0.65:
        return [odd(rng, depth + 1) for _ in range(rng.randrange(4))]
    names = (
        "items",
        "context",
        "id",
        "reward",
        "k",
        "exclude",
        "defer",
        "at",
        "weight",
        "a",
        "b",
        "mode",
        "explore",
        "seed",
    )
    return {rng.choice(names): odd(rng, depth + 1) for _ in range(rng.randrange(5))}


def body(rng):
    """Random JSON; a right body with one field spoiled; bytes; a field that is there twice."""
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.randrange(50))
    if kind < 0.2:
        return b'{"items": ["a"], "items": ["b", "c"], "id": 3, "id": "z%d"}' % rng.randrange(9)
    right = rng.choice(
        [
            {"items": {"a": {"p": 1}, "b": None}, "context": {"c": "x"}},
            {"items": ["a", "b"], "k": 2},
            {"id": "z1", "reward": 1},
        ]
    )
    if kind > 0.85:
        return json.dumps(right).encode()
    value = odd(rng) if kind < 0.4 else {**right, rng.choice([*right, "k", "id", "defer", "weight"]): odd(rng)}
    return json.dumps([value] * rng.choice((1, 1, 2)) if rng.random() < 0.15 else value).encode()


def fuzz(client, count, seed):
    rng, seen = random.Random(seed), {}
    for n in range(count):
        name = rng.choice(("a",) * 9 + ("b", "%00", "x" * 120))
        method = rng.choice(("POST",) * 9 + ("PUT", "GET", "DELETE", "PATCH"))
        sent = body(rng)
        likely = "/reward" if b"reward" in sent else "/decide"
        path = f"/loops/{name}{likely if rng.random() < 0.5 else rng.choice(PATHS)}"
        answer = client.request(method, path, content=sent, headers={"Content-Type": "application/json"})
        assert answer.status_code < 500, (n, method, path, sent, answer.text)
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"code", "message"}
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
    return seen


def test_random_requests_are_answered(tmp_path):
    with called(tmp_path) as client:
        client.put("/loops/a")
        assert fuzz(client, 300, seed=0)[200] > 10


@pytest.mark.slow
def test_many_random_requests_are_answered(tmp_path):
    with called(tmp_path) as client:
        client.put("/loops/a")
        assert fuzz(client, 5000, seed=1)[200] > 100


def test_slow_bodies_and_clients_that_hang_up(tmp_path):
    with listening(tmp_path, body_timeout=0.3) as address:
        host, port = address.removeprefix("http://").split(":")
        head = b"POST /loops/a/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
        for _ in range(3):
            with socket.create_connection((host, int(port))) as line:
                line.sendall(head + b'{"items"')  # and hang up
        with socket.create_connection((host, int(port))) as line:
            line.sendall(head + b'{"items"')
            line.settimeout(10)
            assert b" 408 " in line.recv(4096).split(b"\r\n")[0]
        with socket.create_connection((host, int(port))) as line:  # a byte now and then does not keep the connection
            line.sendall(head)
            line.settimeout(0.1)
            answer, begun = b"", time.monotonic()
            while not answer and time.monotonic() - begun < 3.0:
                line.sendall(b" ")
                with contextlib.suppress(TimeoutError):
                    answer = line.recv(4096)
            assert b" 408 " in answer.split(b"\r\n")[0]
        import urllib.request

        assert urllib.request.urlopen(f"{address}/healthz").status == 200


def raw(address, sent):
    """What is answered to bytes, up to the end of the connection."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as line:
        line.sendall(sent)
        answer = b""
        while part := line.recv(65536):
            answer += part
    return answer


def test_what_is_no_http_is_told_so(tmp_path):
    """A head without an end would be kept in memory: the parser has no limit of its own."""
    endless = b"GET /healthz HTTP/1.1\r\n" + b"x: " + b"a" * 100_000
    with listening(tmp_path) as address:
        for sent in (b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", endless):
            head, _, body = raw(address, sent).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ")
            assert json.loads(body)["error"]["code"] == "malformed"


FAULTS = [
    ({"items": 5}, "items must be an object or a list (given: 5)"),
    ({"items": [1.5]}, "items.0 must be a string or a whole number (given: 1.5)"),
    ({"items": ["a"], "k": 0}, "k must be ≥ 1 (given: 0)"),
    ({"items": ["a"], "defer": 1}, "defer must be true or false (given: 1)"),
]


@pytest.mark.parametrize(("body", "message"), FAULTS)
def test_what_is_wrong_is_said_in_our_words(tmp_path, body, message):
    with called(tmp_path) as client:
        client.put("/loops/a")
        answer = client.post("/loops/a/decide", json=body)
        assert (answer.status_code, answer.json()["error"]["message"]) == (422, message)
        answer = client.post("/loops/a/personalizer/rank", json={"actions": [{"id": 5}]})
        assert answer.json()["error"]["message"] == "actions.0.id must be a string (given: 5)"


TIMES = [
    ("2026-01-01T00:00:00", "2027-01-01T00:00:00Z", 200),
    ("0001-01-01T00:00:00", "9999-12-31T00:00:00", 422),
    ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 422),
]


def test_odd_jobs_and_pages_of_the_retired_protocol(tmp_path):
    with called(tmp_path, max_items=5) as client:
        root = "/loops/a/personalizer"
        for kind in ("evaluations", "featureImportances"):
            for n, (start, end, status) in enumerate(TIMES):
                asked = {"name": "n", "startTime": start, "endTime": end}
                assert client.put(f"{root}/{kind}/e{n}", json=asked).status_code == status
            for id_ in ("x" * 200, "é" * 150):
                asked = {"name": "n", "startTime": "2026-01-01T00:00:00Z", "endTime": "2027-01-01T00:00:00Z"}
                assert client.get(f"{root}/{kind}/{id_}").status_code == 404
                assert client.put(f"{root}/{kind}/{id_}", json=asked).status_code == 200
                assert client.get(f"{root}/{kind}/{id_}").json()["id"] == id_
        assert client.get(f"/dashboard/{'x' * 300}.css").status_code == 404
        assert client.get("/loops/a/explain/b%00").status_code == 422
        answer = client.post(f"{root}/rank", json={"actions": [{"id": str(n)} for n in range(6)]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "too_many_items")
        many = [{"k": n} for n in range(5000)]
        assert client.post(f"{root}/rank", json={"actions": [{"id": "a"}], "contextFeatures": many}).status_code == 422


def test_models(tmp_path):
    with called(tmp_path, max_body=2000) as client:
        root = "/loops/a/personalizer"
        client.post(f"{root}/rank", json={"actions": [{"id": "a"}, {"id": "b"}]})
        for nonsense in (b"", b"nonsense", b"\xff" * 100):
            answer = client.put(f"{root}/model", content=nonsense)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
        model = client.get(f"{root}/model").content
        assert len(model) > 2000
        assert client.put(f"{root}/model", content=model).status_code == 204
        assert client.get("/loops/a").json()["info"]["decisions"] == 1


def test_a_model_is_not_lost_to_a_call_that_makes_the_loop_anew(tmp_path, monkeypatch):
    with called(tmp_path) as client:
        root = "/loops/a/personalizer"
        client.post(f"{root}/rank", json={"actions": [{"id": "a"}, {"id": "b"}]})
        model = client.get(f"{root}/model").content
        remove, interfered = FileCatalogue.remove, []

        def faster(self, name):
            moved = remove(self, name)
            if not interfered:
                interfered.append(self.create(name, LoopSettings()))
            return moved

        monkeypatch.setattr(FileCatalogue, "remove", faster)
        assert client.put(f"{root}/model", content=model).status_code == 204
        assert interfered == [True]
        assert client.get("/loops/a").json()["info"]["decisions"] == 1


def test_names_of_no_loops_do_not_pile_up(tmp_path):
    with called(tmp_path) as client:
        for n in range(5):
            assert client.get(f"/loops/none{n}").status_code == 404
        loops = client.app.state.loops
        assert loops.open_now() == []
        assert len(loops.catalogue._entries) == 0
