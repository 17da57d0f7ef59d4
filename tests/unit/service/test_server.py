"""The real command, with several processes: a worker that dies and workers that are replaced refuse no call that is repeated."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import pytest
from served import called, children, command

import driftbandits as db
from driftbandits.bandit.store import StoreUnavailable
from driftbandits.errors import InvalidValue
from driftbandits.service.config import Config
from driftbandits.service.keys import new_key
from driftbandits.service.server import run

from .test_kills import until


@pytest.mark.slow
def test_from_nothing_to_a_decision(tmp_path):
    begun = time.monotonic()
    nothing = {"DRIFTBANDITS_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    nothing["DRIFTBANDITS_COMPILE"] = "background"  # as users have it; the other tests compile first
    with command(tmp_path, jit=True, env=nothing) as (_, address), db.Client(address, loop="shop") as client:
        with db.Client(address, loop="default") as first:  # a new folder has a loop to try
            assert first.decide(["a", "b"]).item in ("a", "b")
        print(f"first decision {time.monotonic() - begun:.1f} s after the command, without compiled code")
        client.create(reward="click")
        d = client.decide({"a": {"price": 3.0}, "b": {"price": 2.5}}, {"age": 31})
        client.reward(d, 1)
        assert client.info()["rewards"] == 1


@pytest.mark.slow
def test_a_worker_that_dies_while_it_is_asked_is_replaced_at_once(tmp_path):
    """Its parent, which waits for an answer, must not wait for two minutes (`workers`)."""
    with command(tmp_path, "--workers", "2") as (process, _):
        until(lambda: len(children(process.pid)) == 2)
        dead = children(process.pid)[0]
        os.kill(dead, signal.SIGSTOP)
        time.sleep(1.5)  # the parent asks twice a second
        os.kill(dead, signal.SIGKILL)
        until(lambda: len(found := children(process.pid)) == 2 and dead not in found, seconds=60)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no Prometheus is installed")
def test_prometheus_scrapes_it(tmp_path):
    with command(tmp_path) as (_, address), db.Client(address, loop="shop") as client:
        client.create()
        client.decide(["a"])
        config = tmp_path / "prometheus.yml"
        target = address.removeprefix("http://")
        config.write_text(
            f"scrape_configs: [{{job_name: d, scrape_interval: 1s, static_configs: [{{targets: ['{target}']}}]}}]"
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = [
            f"--config.file={config}",
            f"--web.listen-address=127.0.0.1:{port}",
            f"--storage.tsdb.path={tmp_path}/tsdb",
        ]
        scraper = subprocess.Popen(["prometheus", *options], stderr=subprocess.DEVNULL)
        try:
            found = []
            for _ in range(100):
                with contextlib.suppress(OSError):
                    query = f"http://127.0.0.1:{port}/api/v1/query?query=driftbandits_loop_decisions_total"
                    found = json.load(urllib.request.urlopen(query))["data"]["result"]
                if found:
                    break
                time.sleep(0.2)
            assert [series["metric"]["loop"] for series in found] == ["shop"]
        finally:
            scraper.kill()
            scraper.wait()


def test_an_address_that_is_taken_is_refused_before_anything_is_promised(tmp_path):
    said = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidValue, match=f"http://127.0.0.1:{port} cannot be served: address already in use"):
            run(Config(data=tmp_path, port=port), say=said.append)
    with pytest.raises(InvalidValue, match=r"http://\[2001:db8::1\]:1 cannot be served"):
        run(Config(data=tmp_path, host="2001:db8::1", port=1, keys=_keys(tmp_path)), say=said.append)
    assert said == []


def _keys(folder):
    new_key(folder / "keys.toml", "boss", "admin")
    return folder / "keys.toml"


def test_a_database_that_is_not_there_is_named_with_the_reason(tmp_path):
    said = []
    with pytest.raises(StoreUnavailable, match=r"port 1 failed: Connection refused") as told:
        run(Config(data=tmp_path, port=0, database="postgresql://me:secret@127.0.0.1:1/x"), say=said.append)
    assert "secret" not in str(told.value)
    assert said == []


def test_no_answer_is_a_redirection(tmp_path):
    """It would name the Host that the caller sent."""
    with called(tmp_path) as client:
        for path in ("/loops/", "/loops/a/personalizer/evaluations/", "/docs/"):
            assert client.get(path, follow_redirects=False).status_code == 404
