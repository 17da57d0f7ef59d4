"""The store of cells: a result is found under its specification, or not at all."""

import numpy as np
import pytest

from driftbandits.io.cell_store import JsonStore, digest

SPEC = {"function": "f", "arguments": {"x": 1.5}}


def test_a_result_comes_back_as_plain_data(tmp_path):
    store = JsonStore(tmp_path)
    assert store.get(digest(SPEC)) is None
    put = store.put(SPEC, {"a": np.array([0.1, 1e300]), "b": (1, None), "c": np.int64(3), "ö": "θ"})
    assert put == {"a": [0.1, 1e300], "b": [1, None], "c": 3, "ö": "θ"}
    assert JsonStore(tmp_path).get(digest(SPEC)) == put
    assert store.get(digest({**SPEC, "function": "g"})) is None
    assert not store.damaged


@pytest.mark.parametrize(
    "change", [lambda b: b[:-9], lambda b: b.replace(b"0.1", b"0.2"), lambda b: b"[]", lambda b: b"\xff"]
)
def test_a_damaged_file_counts_as_absent(tmp_path, change):
    store = JsonStore(tmp_path)
    store.put(SPEC, {"a": 0.1})
    file = store.file(digest(SPEC))
    file.write_bytes(change(file.read_bytes()))
    assert store.get(digest(SPEC)) is None
    assert store.damaged == {digest(SPEC)}


def test_a_file_under_another_name_is_refused(tmp_path):
    store, other = JsonStore(tmp_path), digest({"function": "g"})
    store.put(SPEC, {"a": 0.1})
    store.file(other).parent.mkdir(parents=True, exist_ok=True)
    store.file(digest(SPEC)).rename(store.file(other))
    assert store.get(other) is None


def test_what_is_no_plain_data_is_refused(tmp_path):
    with pytest.raises(TypeError, match="must be plain data"):
        JsonStore(tmp_path).put(SPEC, {"a": object()})
    assert not list(tmp_path.rglob("*.json"))
