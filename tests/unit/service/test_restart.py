"""A database that restarts is waited for: 503 with Retry-After, and then everything goes on."""

import os
import pathlib
import signal
import time

import pytest
from psycopg_pool.base import AttemptWithBackoff
from served import called, postgres


def test_a_database_that_restarts(tmp_path, monkeypatch):
    monkeypatch.setattr(AttemptWithBackoff, "DELAY_BACKOFF", 60.0)  # as after a long outage
    with postgres() as server, called(tmp_path, database=server.get_uri()) as client:
        assert client.put("/loops/a").status_code == 201
        first = client.post("/loops/a/decide", json={"items": ["x", "y"], "id": "1"}).json()
        pid = int((pathlib.Path(server.pgdata) / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        while pathlib.Path(f"/proc/{pid}").exists() and pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            time.sleep(0.02)
        answers = [client.post("/loops/a/decide", json={"items": ["x", "y"], "id": "2"}) for _ in range(2)]
        assert {a.status_code for a in answers} == {503}
        assert answers[-1].headers["Retry-After"] == "1"
        assert answers[-1].json()["error"]["code"] == "store_unavailable"
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        server.ensure_postgres_running()
        for _ in range(600):
            again = client.post("/loops/a/decide", json={"items": ["x", "y"], "id": "2"})
            if again.status_code == 200:
                break
            assert again.status_code == 503
            time.sleep(0.1)
        assert again.status_code == 200
        assert client.post("/loops/a/decide", json={"items": ["z"], "id": "1"}).json() == first
        assert client.post("/loops/a/reward", json={"id": "2", "reward": 1}).json() == {"learned": True}
        info = client.get("/loops/a").json()["info"]
        assert (info["decisions"], info["rewards"], info["learner"]) == (2, 1, True)


@pytest.mark.parametrize("what", ["loop.json", "bandit.db"])
def test_a_damaged_loop_is_one_line(tmp_path, what):
    with called(tmp_path) as client:
        client.put("/loops/a")
        client.put("/loops/b")
    (tmp_path / "loops" / "a" / what).write_bytes(b"nonsense" * 1000)
    with called(tmp_path) as client:
        answer = client.post("/loops/a/decide", json={"items": ["x"]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "cannot_read")
        assert client.post("/loops/b/decide", json={"items": ["x"]}).status_code == 200
        assert client.get("/metrics").status_code == 200
