"""The own protocol, over both stores: the same calls have the same answers."""

import time

import pytest
from served import called, postgres

ITEMS = {"a": {"price": 3.0}, "b": {"price": 2.0}}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def client(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    if request.param == "sqlite":
        with called(folder) as client:
            yield client
    else:
        with postgres() as server, called(folder, database=server.get_uri()) as client:
            yield client


def made(client, name, **settings):
    answer = client.put(f"/loops/{name}", json=settings)
    assert answer.status_code == 201, answer.text
    return f"/loops/{name}"


def code(answer, status):
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert "\n" not in answer.json()["error"]["message"]
    return answer.json()["error"]["code"]


def test_a_loop_is_made_once_and_changed_where_it_can_be(client):
    made(client, "shop", reward="click", explore=0.1)
    again = client.put("/loops/shop", json={"reward": "click", "explore": 0.2, "reward_wait": "10min"})
    assert again.status_code == 200
    assert again.json()["settings"]["explore"] == 0.2
    assert again.json()["settings"]["reward"] == "click"
    assert code(client.put("/loops/shop", json={"reward": "value"}), 409) == "cannot_change"
    assert code(client.put("/loops/shop", json={"colour": "red"}), 422) == "invalid"
    assert code(client.put("/loops/shop", json={"reward_wait": "soon"}), 422) == "invalid"
    assert code(client.put("/loops/new", json={"reward": "click", "default_reward": 3}), 422) == "invalid"
    assert "new" not in client.get("/loops").json()["loops"]
    assert code(client.put("/loops/..%2Fetc"), 404) == "not_found"
    assert code(client.put("/loops/.hidden"), 422) == "invalid"


def test_a_wrong_path_or_method_is_told_what_to_do(client):
    assert client.get("/nosuch").json()["error"]["message"] == "there is no path '/nosuch'; /docs lists every call"
    loop = made(client, "methods", reward="click")
    message = client.get(f"{loop}/decide").json()["error"]["message"]
    assert message.startswith("GET is not allowed here, POST is;")


def test_decide_and_reward(client):
    loop = made(client, "plain", reward="click")
    d = client.post(f"{loop}/decide", json={"items": ITEMS, "context": {"age": 31}}).json()
    assert set(d) == {"id", "item", "items", "propensity", "propensities"}
    assert d["propensities"].keys() == {"a", "b"}
    assert d["propensity"] == d["propensities"][d["item"]]
    assert client.post(f"{loop}/reward", json={"id": d["id"], "reward": 1}).json() == {"learned": True}
    assert code(client.post(f"{loop}/reward", json={"id": d["id"], "reward": 1}), 409) == "already_rewarded"
    assert code(client.post(f"{loop}/reward", json={"id": "never", "reward": 1}), 404) == "unknown_decision"
    assert code(client.post(f"{loop}/reward", json={"id": d["id"], "reward": "x"}), 422) == "invalid"
    assert code(client.post(f"{loop}/decide", json={"items": {}}), 422) == "invalid"
    assert code(client.post("/loops/none/decide", json={"items": ["a"]}), 404) == "unknown_loop"
    assert client.get(loop).json()["info"]["rewards"] == 1
    assert client.get(f"{loop}/events").json() == {"events": []}
    assert client.get(f"{loop}/explain/{d['id']}").json()["item"] == d["item"]
    value = client.get(f"{loop}/value").json()  # the first 50 decisions only say how rare clicks are
    assert (value["own"]["n"], value["own"]["mean"]) == (0, None)
    assert "after the first 50" in value["sentence"]
    assert code(client.get(f"{loop}/value?against=nobody"), 422) == "invalid"
    assert code(client.get(f"{loop}/explain/never"), 404) == "unknown_decision"


def test_the_same_id_is_the_same_decision(client):
    loop = made(client, "same")
    first = client.post(f"{loop}/decide", json={"items": ["a", "b", "c"], "id": "order 7", "k": 2})
    for items in (["a", "b", "c"], ["x"]):
        again = client.post(f"{loop}/decide", json={"items": items, "id": "order 7"})
        assert again.json() == first.json()
    assert client.get(loop).json()["info"]["decisions"] == 1


def test_excluded_items_are_not_chosen(client):
    loop = made(client, "exclude")
    for _ in range(5):
        d = client.post(f"{loop}/decide", json={"items": ["a", "b", 3], "exclude": ["a", 3]}).json()
        assert d["item"] == "b"
        assert d["propensities"] == {"b": 1.0}
    assert code(client.post(f"{loop}/decide", json={"items": ["a"], "exclude": ["a"]}), 422) == "invalid"
    assert code(client.post(f"{loop}/decide", json={"items": ["a"], "exclude": ["z"]}), 422) == "invalid"


def test_a_deferred_decision_has_a_reward_after_it_was_activated(client):
    loop = made(client, "defer")
    d = client.post(f"{loop}/decide", json={"items": ["a", "b"], "defer": True}).json()
    assert code(client.post(f"{loop}/reward", json={"id": d["id"], "reward": 1}), 409) == "not_active"
    for _ in range(2):
        assert client.post(f"{loop}/activate", json={"id": d["id"]}).json() == {"active": True}
    assert client.post(f"{loop}/reward", json={"id": d["id"], "reward": 1}).json() == {"learned": True}
    assert code(client.post(f"{loop}/activate", json={"id": "never"}), 404) == "unknown_decision"


def test_decisions_that_waited_too_long_have_the_default_reward(client):
    loop = made(client, "wait", reward_wait=0.3, default_reward=-2.0)
    late = client.post(f"{loop}/decide", json={"items": ["a"]}).json()
    client.post(f"{loop}/decide", json={"items": ["a"], "defer": True})
    for _ in range(1000):
        info = client.get(loop).json()["info"]
        if info["expired"] == 2:
            break
        time.sleep(0.05)
    assert (info["expired"], info["rewards"], info["pending"]) == (2, 1, 0)  # what was never shown has earned nothing
    assert code(client.post(f"{loop}/reward", json={"id": late["id"], "reward": 1}), 409) == "already_rewarded"


def test_an_apprentice_shows_the_first_item_and_learns(client):
    loop = made(client, "apprentice", mode="apprentice")
    for _ in range(40):
        d = client.post(f"{loop}/decide", json={"items": ["b", "a"]}).json()
        assert (d["item"], d["propensity"]) == ("b", 1.0)
        assert client.post(f"{loop}/reward", json={"id": d["id"], "reward": 1.0}).json() == {"learned": True}
    info = client.get(loop).json()["info"]
    assert info["guided"] == 40
    assert 0 < info["agreed"] <= 40
    assert info["effective_memory"] > 0
    assert client.put(loop, json={"mode": "log_only"}).status_code == 200
    d = client.post(f"{loop}/decide", json={"items": ["b", "a"]}).json()
    assert client.post(f"{loop}/reward", json={"id": d["id"], "reward": 100.0}).json() == {"learned": False}
    assert client.get(loop).json()["info"]["sigma"] == info["sigma"]  # 100 would have changed it


def test_batches(client):
    loop = made(client, "batch", reward="click")
    made_ = client.post(f"{loop}/decide_batch", json=[{"items": ["a", "b"]}] * 4).json()
    assert len({d["id"] for d in made_}) == 4
    wrong = client.post(f"{loop}/decide_batch", json=[{"items": ["a"]}, {"items": []}])
    assert code(wrong, 422) == "invalid"
    assert "decision 1" in wrong.json()["error"]["message"]
    assert client.get(loop).json()["info"]["decisions"] == 4
    rewards = [{"id": d["id"], "reward": 1} for d in made_]
    rewards[1] = {"id": "never", "reward": 1}
    rewards[2]["reward"] = "x"
    results = client.post(f"{loop}/reward_batch", json=[*rewards, rewards[0], 3]).json()
    assert [r["learned"] for r in results] == [True, False, False, True, False, False]
    assert [r.get("error", {}).get("code") for r in results] == [
        *(None, "unknown_decision", "invalid", None, "already_rewarded", "invalid")
    ]
    assert client.get(loop).json()["info"]["rewards"] == 2


def test_a_deleted_loop_is_moved_aside(client):
    loop = made(client, "gone")
    client.post(f"{loop}/decide", json={"items": ["a"]})
    assert code(client.delete(loop), 422) == "invalid"
    assert client.delete(f"{loop}?confirm=gone").json()["moved_to"]
    assert code(client.get(loop), 404) == "unknown_loop"
    assert code(client.post(f"{loop}/decide", json={"items": ["a"]}), 404) == "unknown_loop"
    made(client, "gone", reward="click")
    assert client.get(loop).json()["info"]["decisions"] == 0


def test_health_and_documentation(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/loops/{loop}", "/loops/{loop}/decide", "/metrics"} <= paths.keys()
    assert client.get("/healthz", headers={"X-Request-Id": "mine-1"}).headers["X-Request-Id"] == "mine-1"
    assert len(client.get("/healthz", headers={"X-Request-Id": "a b\n"}).headers["X-Request-Id"]) == 32


def test_metrics_are_read_by_prometheus(client):
    from prometheus_client.parser import text_string_to_metric_families

    loop = made(client, "watched")
    client.post(f"{loop}/decide_batch", json=[{"items": ["a"]}] * 3)
    families = {f.name: f for f in text_string_to_metric_families(client.get("/metrics").text)}
    samples = {(s.name, s.labels.get("loop")): s.value for f in families.values() for s in f.samples}
    assert samples["driftbandits_loop_decisions_total", "watched"] == 3.0
    assert samples["driftbandits_loop_pending", "watched"] == 3.0
    assert families["driftbandits_request_seconds"].type == "histogram"
    wanted = {"rewards", "late", "dropped", "drift_events", "effective_memory", "sigma", "log_lag_rows"}
    assert {f"driftbandits_loop_{name}" for name in wanted} <= families.keys()


def test_what_is_kept_is_there_after_a_restart(tmp_path):
    with called(tmp_path) as client:
        loop = made(client, "kept")
        d = client.post(f"{loop}/decide", json={"items": ["a", "b"], "id": "x"}).json()
    with called(tmp_path) as client:
        assert client.post(f"{loop}/decide", json={"items": ["a", "b"], "id": "x"}).json() == d
        assert client.post(f"{loop}/reward", json={"id": "x", "reward": 2.0}).json() == {"learned": True}


def test_idle_loops_are_closed_and_opened_again(tmp_path):
    with called(tmp_path, max_open=2) as client:
        for n in range(5):
            client.post(f"{made(client, f'loop{n}')}/decide", json={"items": ["a"]})
        assert len(client.app.state.loops.open_now()) == 2
        for n in (0, 1, 0, 2):
            client.post(f"/loops/loop{n}/decide", json={"items": ["a"], "id": f"again {n}"})
        assert [loop.name for loop in client.app.state.loops.open_now()] == ["loop0", "loop2"]  # the last used
        assert [client.get(f"/loops/loop{n}").json()["info"]["decisions"] for n in range(5)] == [2, 2, 2, 1, 1]


def test_calls_at_the_same_time_share_a_transaction_and_not_their_errors(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with called(tmp_path) as client:
        loop = made(client, "busy")
        opened = client.app.state.loops.get("busy")
        store, begun = opened._bandit._store, []
        real = store.transaction
        store.transaction = lambda **how: (begun.append(how), real(**how))[1]

        def one(n):
            wrong = n % 4 == 3
            return wrong, client.post(f"{loop}/decide", json={"items": [] if wrong else ["a", "b"], "id": f"d{n}"})

        with ThreadPoolExecutor(32) as pool:
            with opened._lock:  # all wait for their turn
                waiting = [pool.submit(one, n) for n in range(32)]
                patience = time.monotonic() + 5.0
                while opened._waiting.size() < 32 and time.monotonic() < patience:
                    time.sleep(0.01)
                assert opened._waiting.size() >= 24  # those that are wrong may be refused before
            answers = [w.result() for w in waiting]
        assert [answer.status_code for _, answer in answers] == [422 if wrong else 200 for wrong, _ in answers]
        assert len(begun) < 8  # not 24; others than these calls may write, too
        assert client.get(loop).json()["info"]["decisions"] == 24


def test_a_change_that_fails_half_way_undoes_itself_alone(tmp_path):
    from driftbandits.bandit.saving import to_bytes
    from driftbandits.errors import InvalidValue
    from driftbandits.service.changes import Job, together

    with called(tmp_path) as client:
        made(client, "half")
        bandit = client.app.state.loops.get("half")._bandit

        def half(bandit):
            with bandit.transaction():
                bandit.decide(["a", "b"], id="half")
                raise InvalidValue("after a change")

        jobs = [Job(lambda b: b.decide(["a"], id="1")), Job(half), Job(lambda b: b.decide(["b"], id="2"))]
        together(bandit, jobs)
        assert (jobs[0].result().item, jobs[2].result().item) == ("a", "b")
        with pytest.raises(InvalidValue, match="after a change"):
            jobs[1].result()
        rows = bandit._store.rows(0, 10)
        assert [row.id for row in rows] == ["1", "2"]
        before = to_bytes(bandit)
        bandit._ahead = True
        assert bandit.info()["decisions"] == 2
        assert to_bytes(bandit) == before


def test_no_call_is_lost_between_threads(tmp_path):
    import sys
    import threading

    from driftbandits.service.file_catalogue import FileCatalogue
    from driftbandits.service.loops import Loops
    from driftbandits.service.settings import LoopSettings

    loops = Loops(FileCatalogue(tmp_path, shared=False))
    loops.catalogue.create("a", LoopSettings())
    loop, made_, before = loops.get("a"), [], sys.getswitchinterval()

    def drive(place):
        made_.extend((place, n) == loop.commit(lambda _, key=(place, n): key) for n in range(100))

    sys.setswitchinterval(1e-6)  # threads take turns in the middle of everything
    try:
        threads = [threading.Thread(target=drive, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
        loops.close()
    assert made_ == [True] * 600


def test_the_dashboard_begins_with_the_loop_used_last(client):
    for name in ("aaa", "used"):
        client.put(f"/loops/{name}", json={})
    client.post("/loops/aaa/decide", json={"items": ["a", "b"]})
    client.post("/loops/used/decide", json={"items": ["a", "b"]})
    told = client.get("/dashboard/loops").json()
    assert told["latest"] == "used"
    assert "aaa" in told["loops"]


def test_paths_are_counted_and_logged_by_their_templates(tmp_path, caplog):
    """Also those of a router that is included under a prefix; a loop's name is the client's, and is in neither."""
    rank = {"actions": [{"id": "x"}, {"id": "y"}]}
    retired, name = "/loops/{loop}/personalizer", "personalizer"  # a name that is a part of the path, too
    with called(tmp_path) as client, caplog.at_level("INFO", logger="driftbandits.service"):
        assert client.post(f"/loops/{name}/personalizer/rank", json=rank | {"eventId": "e"}).status_code == 201
        assert client.post(f"/loops/{name}/personalizer/v1.0/events/e/reward", json={"value": 1}).status_code == 204
        assert client.get(f"/loops/{name}/personalizer/logs/properties").status_code == 200
        assert client.get(f"/loops/{name}").status_code == 200
        assert client.post(f"/loops/{name}/decide", json={"items": ["x"]}).status_code == 200
        text = client.get("/metrics").text
    wanted = [
        f"{retired}/rank",
        f"{retired}/v1.0/events/{{event}}/reward",
        f"{retired}/logs/properties",
        "/loops/{loop}",
        "/loops/{loop}/decide",
    ]
    assert [record.fields["route"] for record in caplog.records if hasattr(record, "fields")][:5] == wanted
    for route in wanted:
        assert f'route="{route}"' in text
