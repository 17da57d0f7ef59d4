"""`driftbandits lab`."""

import http.client
import os
import signal
import subprocess
import sys

import pytest

from command_line import call, refused
from driftbandits.lab.server import listener


def test_it_is_in_the_help() -> None:
    assert "--no-browser" in call("lab", "--help")


def test_a_port_in_use_is_one_line() -> None:
    with listener(0) as own:
        own.listen()
        port = own.getsockname()[1]
        assert refused("lab", "--port", str(port), "--no-browser").startswith(
            f"driftbandits: port {port} cannot be used"
        )


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert refused("lab", "--no-browser") == (
        "driftbandits: the lab needs starlette and uvicorn: pip install 'driftbandits[lab]'\n"
    )


def test_an_interrupt_ends_what_is_being_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Child:
        alive = True

        def kill(self) -> None:
            self.alive = False

    def interrupted(port: int, *, browser: bool, say: object) -> None:
        raise KeyboardInterrupt

    child = Child()
    monkeypatch.setattr("driftbandits.lab.serve", interrupted)
    monkeypatch.setattr("multiprocessing.active_children", lambda: [child])
    assert call("lab", "--no-browser") == ""
    assert not child.alive


@pytest.mark.interpreted
def test_it_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "driftbandits.cli", "lab", "--port", "0", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as child:
        try:
            assert child.stdout is not None
            line = child.stdout.readline()
            assert line.startswith("lab  http://127.0.0.1:")
            connection = http.client.HTTPConnection(line.split()[1].removeprefix("http://").rstrip("/"), timeout=120)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            connection.close()
            child.send_signal(signal.SIGINT)
            assert child.wait(120) == 0
        finally:
            child.kill()
