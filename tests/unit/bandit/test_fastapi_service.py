"""The worked example decides, learns, refuses in one line, and remembers over a restart."""

import importlib.util
import pathlib

import pytest

pytestmark = pytest.mark.xdist_group("bandit")
SERVICE = pathlib.Path(__file__).parents[3] / "examples" / "fastapi_service.py"


def service():
    spec = importlib.util.spec_from_file_location("fastapi_service", SERVICE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from fastapi.testclient import TestClient

    return TestClient(module.app)


@pytest.mark.filterwarnings("ignore:Using .httpx")  # a deprecation inside starlette
def test_the_service(tmp_path, monkeypatch):
    monkeypatch.setenv("BANDIT", str(tmp_path / "shop.bandit"))
    asked = {"items": {"a": {"price": 3.0}, "b": {"price": 2.0}}, "context": {"age": 31}}
    with service() as client:
        for _ in range(5):
            d = client.post("/decide", json=asked).json()
            assert client.post("/reward", json={"id": d["id"], "reward": 1}).json() == {"ok": True}
        waiting = client.post("/decide", json=asked).json()
        again = client.post("/reward", json={"id": d["id"], "reward": 1})
        assert again.status_code == 422
        assert "has had its reward" in again.json()["detail"]
        assert client.post("/decide", json={"items": {}}).status_code == 422
        assert client.post("/reward", json={"id": d["id"]}).status_code == 422
    with service() as client:
        assert client.get("/info").json()["rewards"] == 5
        assert client.post("/reward", json={"id": waiting["id"], "reward": 0}).status_code == 200
        assert client.get("/info").json()["pending"] == 0
