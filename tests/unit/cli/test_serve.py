"""`driftbandits serve`, as far as it needs no server: the server is tested in tests/unit/service."""

import pytest

from command_line import call, refused


def test_everything_is_in_the_help() -> None:
    told = call("serve", "--help")
    for option in (
        "--data",
        "--database",
        "--host",
        "--port",
        "--keys",
        "--new-key",
        "--role",
        "--workers",
        "--rate",
        "--max-body",
    ):
        assert option in told
    assert "curl" in told


def test_other_machines_are_refused_without_keys(tmp_path) -> None:
    line = refused("serve", "--host", "0.0.0.0", "--data", str(tmp_path))
    assert "--new-key NAME" in line


def test_a_key_is_printed_once_and_its_hash_kept(tmp_path) -> None:
    path = tmp_path / "keys.toml"
    key = call("serve", "--keys", str(path), "--new-key", "shop", "--role", "decide").strip()
    assert key.startswith("db_")
    assert len(key) > 40
    assert key not in path.read_text()
    assert 'role = "decide"' in path.read_text()
    assert "has a key named 'shop'" in refused("serve", "--keys", str(path), "--new-key", "shop")
    assert "'decide' or 'admin'" in refused("serve", "--keys", str(path), "--new-key", "x", "--role", "king")


def test_without_its_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install 'driftbandits[serve]'" in refused("serve")
