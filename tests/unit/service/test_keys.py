"""Who may call, and how much."""

import base64
import json
import logging

import pytest
from served import called

from driftbandits.errors import CannotRead, InvalidValue
from driftbandits.service.app import create_app
from driftbandits.service.config import Config
from driftbandits.service.gate import JSONLines, Rates
from driftbandits.service.keys import Keys, new_key


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_roles_and_rotation_without_restart(tmp_path):
    path = tmp_path / "keys.toml"
    owner, shop = new_key(path, "owner", "admin"), new_key(path, "shop", "decide")
    assert owner not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    with called(tmp_path, keys=path, host="0.0.0.0") as client:
        assert client.get("/healthz").status_code == 200
        for place in ("/", "/loops", "/docs", "/openapi.json", "/metrics", "/readyz", "/nowhere"):
            assert client.get(place).status_code == 401, place
            assert client.get(place, headers=bearer("db_wrong")).status_code == 401
        assert client.put("/loops/a", headers=bearer(shop)).status_code == 403
        assert client.put("/loops/a", headers=bearer(owner)).status_code == 201
        for headers in (
            bearer(shop),
            {"X-API-Key": shop},
            {"Ocp-Apim-Subscription-Key": shop},
            {"Authorization": "Basic " + base64.b64encode(f"me:{shop}".encode()).decode()},
        ):
            assert client.post("/loops/a/decide", json={"items": ["x"]}, headers=headers).status_code == 200
        assert client.delete("/loops/a?confirm=a", headers=bearer(shop)).status_code == 403
        second = new_key(path, "shop2", "decide")
        assert client.get("/loops", headers=bearer(second)).status_code == 200
        kept = path.read_text().split("[shop]")[0]
        path.write_text(kept)
        assert client.get("/loops", headers=bearer(shop)).status_code == 401
        assert client.get("/loops", headers=bearer(owner)).status_code == 200
        path.write_text("no [ toml")  # a half-written file does not lock everybody out
        assert client.get("/loops", headers=bearer(owner)).status_code == 200


def test_files_of_keys_are_checked(tmp_path):
    path = tmp_path / "keys.toml"
    path.write_text('[a]\nrole = "king"\nsha256 = "00"\n')
    with pytest.raises(CannotRead, match="needs role"):
        Keys(path)
    with pytest.raises(CannotRead, match="cannot be read"):
        Keys(tmp_path / "none.toml")
    for name, role in (("a b", "admin"), ("", "admin"), ("a", "king")):
        with pytest.raises(InvalidValue):
            new_key(tmp_path / "new.toml", name, role)
    new_key(tmp_path / "new.toml", "a", "admin")
    with pytest.raises(InvalidValue, match="has a key named"):
        new_key(tmp_path / "new.toml", "a", "admin")


def test_without_keys_only_this_machine_may_call(tmp_path):
    with pytest.raises(InvalidValue, match="--new-key"):
        create_app(Config(data=tmp_path, host="0.0.0.0"))
    with called(tmp_path) as client:
        assert client.get("/loops").status_code == 200
        assert client.get("/loops", headers={"Host": "evil.example"}).status_code == 403
        assert client.get("/loops", headers={"Origin": "http://evil.example"}).status_code == 403
        assert client.get("/loops", headers={"Origin": "http://localhost:3000"}).status_code == 200


def test_the_rate_of_a_key(tmp_path):
    rates = Rates(0.001)  # one at once, the next after a quarter of an hour: no test takes so long
    assert [rates.wait("a") > 0 for _ in range(3)] == [False, True, True]
    assert rates.wait("b") == 0.0
    with called(tmp_path, rate=0.001) as client:
        answers = [client.get("/loops") for _ in range(3)]
    assert [a.status_code for a in answers] == [200, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) > 100
    assert answers[-1].json()["error"]["code"] == "too_many"


@pytest.mark.parametrize("wanted", [False, True])
def test_what_clients_send_is_logged_only_if_wanted(tmp_path, wanted):
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    handler = Keep()
    handler.setFormatter(JSONLines(wanted))
    logger = logging.getLogger("driftbandits")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        with called(tmp_path, log_bodies=wanted) as client:
            client.put("/loops/secret-loop")
            client.post("/loops/secret-loop/decide", json={"items": {"secret-item": {"secret": 1}}})
            client.post("/loops/secret-loop/reward", json={"id": "secret-id", "reward": "secret"})
            logger.warning("row is set aside: %s", "secret")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    rows = [json.loads(line) for line in lines]
    assert [row.get("route") for row in rows][1] == "/loops/{loop}/decide"
    assert any("secret" in line for line in lines) is wanted


def test_a_key_for_some_loops_reaches_no_other(tmp_path):
    path = tmp_path / "keys.toml"
    owner, shop = new_key(path, "owner", "admin"), bearer(new_key(path, "shop", "admin", ["shop", "shop.new"]))
    with called(tmp_path, keys=path, host="0.0.0.0") as client:
        for loop in ("shop", "mail"):
            assert client.put(f"/loops/{loop}", headers=bearer(owner)).status_code == 201
            decided = client.post(f"/loops/{loop}/decide", json={"items": ["x"], "id": "d"}, headers=bearer(owner))
            assert decided.status_code == 200
        assert client.get("/loops/shop/explain/d", headers=shop).status_code == 200
        assert client.get("/loops", headers=shop).json() == {"loops": ["shop"]}
        assert client.get("/dashboard/loops", headers=shop).json()["loops"] == ["shop"]
        assert client.get("/dashboard/loops", headers=shop).json()["latest"] == "shop"
        assert client.put("/loops/shop.new", headers=shop).status_code == 201
        others = [
            *(
                ("GET", f"/loops/{name}")
                for name in ("mail", "mail/explain/d", "m%61il", "mail/", "sho", "shop%2f..%2fmail")
            ),
            ("POST", "/loops/mail/decide"),
            ("POST", "/loops/mail/reward_batch"),
            ("POST", "/loops/mail/personalizer/rank"),
            ("GET", "/loops/mail/personalizer/v1.0/model"),
            ("DELETE", "/loops/mail?confirm=mail"),
            ("PUT", "/loops/third"),
            ("GET", "/dashboard/live/mail"),
            ("GET", "/metrics"),
        ]
        for method, place in others:
            answer = client.request(method, place, headers=shop, json={} if method != "GET" else None)
            assert answer.status_code in (403, 404), (method, place)
            assert "mail" not in answer.text.replace(place, "") or answer.status_code == 404
        assert client.get("/loops", headers=bearer(owner)).json() == {"loops": ["mail", "shop", "shop.new"]}


@pytest.mark.parametrize("line", ['loops = "shop"', "loops = []", 'loops = ["../x"]', 'loop = ["shop"]'])
def test_a_limit_that_cannot_be_read_is_no_permission(tmp_path, line):
    path = tmp_path / "keys.toml"
    new_key(path, "shop", "decide")
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(CannotRead, match="loops"):
        Keys(path)
    with pytest.raises(InvalidValue, match="no name of a loop"):
        new_key(tmp_path / "other.toml", "shop", "decide", ["a b"])
