"""What deploy/ says is done in a fresh directory, as far as that needs no container: same commands, same paths, same options."""

import configparser
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from served import called

ROOT = pathlib.Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"


def dockerfile():
    """Its instructions, continued lines joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]


def started(arguments, folder, port, **env):
    command = [sys.executable, "-m", "driftbandits.cli", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "NUMBA_DISABLE_JIT": "1", **env}, stderr=subprocess.PIPE
    )


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(process, url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url, timeout=2).status
        except OSError:
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.05)
    raise AssertionError(f"{url} does not answer")


def test_the_image_runs_as_nobody_with_one_volume():
    steps = dockerfile()
    assert [value for name, value in steps if name == "USER"] == ["driftbandits"]
    assert [value for name, value in steps if name == "VOLUME"] == ["/data"]
    assert "/healthz" in next(value for name, value in steps if name == "HEALTHCHECK")
    for name, value in steps:
        if name == "COPY" and "--from" not in value:
            assert all((ROOT / source).exists() for source in value.split()[:-1]), value
    needed = re.search(r"include|readme = \"(.+)\"", (ROOT / "pyproject.toml").read_text())
    assert needed is not None
    compose = (DEPLOY / "compose.yaml").read_text()
    for words in (
        "read_only: true",
        "cap_drop: [ALL]",
        "service-1:",
        "service-2:",
        "--database=postgresql://",
        "pg_isready",
    ):
        assert words in compose


@pytest.mark.slow
def test_the_command_of_the_image_serves_with_a_key(tmp_path):
    command = json.loads(next(value for name, value in dockerfile() if name == "CMD"))
    port = free_port()
    here = {
        "/data": str(tmp_path),
        "/data/keys.toml": str(tmp_path / "keys.toml"),
        "8080": str(port),
        "0.0.0.0": "127.0.0.1",
    }
    command = [here.get(word, word) for word in command]
    made = started(["serve", "--keys", str(tmp_path / "keys.toml"), "--new-key", "me"], tmp_path, port)
    made.stderr.close()
    assert made.wait(60) == 0
    process = started(command, tmp_path, port, DRIFTBANDITS_CACHE=str(tmp_path / "cache"))
    try:
        assert wait_for(process, f"http://127.0.0.1:{port}/healthz") == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/loops")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_the_unit_of_systemd_names_options_that_exist():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(DEPLOY / "driftbandits.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert words[1] == "serve"
    options = {word for word in words if word.startswith("--")}
    source = (ROOT / "src" / "driftbandits" / "cli" / "serve.py").read_text()
    assert all(f"{option[2:].replace('-', '_')}: Annotated" in source for option in options)
    assert unit["Service"]["StateDirectory"] == "driftbandits"


def test_the_dashboard_of_grafana_asks_for_metrics_that_there_are(tmp_path):
    from prometheus_client.parser import text_string_to_metric_families

    page = json.loads((DEPLOY / "grafana.json").read_text())
    asked = {
        name
        for panel in page["panels"]
        for target in panel["targets"]
        for name in re.findall(r"driftbandits_\w+", target["expr"])
    }
    with called(tmp_path) as client:
        client.put("/loops/a")
        client.post("/loops/a/decide", json={"items": ["x"]})
        there = {s.name for f in text_string_to_metric_families(client.get("/metrics").text) for s in f.samples}
    assert len(asked) > 8
    assert asked <= there
