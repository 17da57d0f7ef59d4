"""Saved agents: whole or absent, refused in one line when they are not ours, readable for ever."""

import json
import pathlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits.core.part_json import decode, encode
from driftbandits.core.parts import Memory
from driftbandits.core.registry import known_parts, part_name
from driftbandits.errors import CannotRead, CannotWrite
from driftbandits.io import saving
from driftbandits.protocol import absorb, elapse, recall
from driftbandits.zoo.record import records

LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}
FIXTURE = pathlib.Path(__file__).parents[2] / "data" / "agent-format-1.safetensors"


def played(strategy=None, rounds=7):
    agent = db.Agent(strategy or db.zoo.lb_weight_ucb(gamma=0.9, **LINEAR), dim=2, seed=3)
    for t in range(rounds):
        k = agent.select([[0.6, 0.8], [1.0, 0.0], [0.0, 0.5]])
        agent.update([0.3, -0.2, 0.7][k] + 0.01 * t)
    return agent


def test_a_file_of_this_version_loads_for_ever():
    """Written by `played().save(FIXTURE)` when format 1 was made; the numbers below were printed then."""
    agent = db.Agent.load(FIXTURE)
    assert agent.info()["observations"] == 7
    twin = played()
    np.testing.assert_allclose(agent.theta, twin.theta, rtol=1e-12)
    np.testing.assert_allclose(agent.theta, [-0.04732157336205979, 0.29205281392050136], rtol=1e-9)
    for one in (agent, twin):
        one.select(np.eye(2))
        one.update(0.5)
    np.testing.assert_allclose(agent.theta, twin.theta, rtol=1e-12)


def test_equal_agents_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        played().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a", "b"]  # no unfinished file


def test_every_truncation_and_every_flipped_byte_is_refused():
    data = saving.to_bytes("Agent", *played().pack())
    for length in range(len(data)):
        with pytest.raises(CannotRead) as caught:
            saving.from_bytes(data[:length], "Agent")
        assert "\n" not in str(caught.value)
    accepted = []
    for i in range(len(data)):
        damaged = bytearray(data)
        damaged[i] ^= 0x20
        try:
            accepted.append(saving.from_bytes(bytes(damaged), "Agent"))
        except CannotRead:
            continue
    for about, arrays in accepted:  # a byte of padding changes nothing that is read
        assert saving.to_bytes("Agent", about, arrays) == data
    assert len(accepted) < 0.05 * len(data)


@given(data=st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_anything_else_is_refused(data):
    with pytest.raises(CannotRead):
        saving.from_bytes(data, "Agent")


def forged(head, arrays=None):
    """A file with a head of our choosing."""
    import safetensors.numpy

    return bytes(safetensors.numpy.save(arrays or {"x": np.zeros(2)}, {saving.KEY: json.dumps(head)}))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (forged({"format": 2}), "later version .format 2.*upgrade"),
        (forged({"format": True, "kind": "Bandit"}), "holds a Bandit, not an Agent"),
        (forged({"format": "1"}), "not a file of this library"),
        (forged([1]), "not a file of this library"),
        (forged({"format": 1, "kind": "Agent", "about": "{}", "checksum": ""}), "checksum"),
        (struct.pack("<Q", 2**62) + b"{}", "cut short"),
        (b"", "cut short"),
        (b"\x80\x04cos\nsystem\n.", "cut short"),  # a pickle
    ],
)
def test_what_is_wrong_is_said(tmp_path, data, words):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(CannotRead, match=words) as caught:
        db.Agent.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def hostile(tmp_path, change):
    """A file with a right checksum and wrong content."""
    about, arrays = played(db.zoo.glm_ucb(lam=2.0, S=1.0, L=1.0, delta=0.05, estimator="exact"), rounds=0).pack()
    about, arrays = json.loads(json.dumps(about)), {name: array.copy() for name, array in arrays.items()}
    change(about, arrays)
    saving.write(tmp_path / "hostile", "Agent", about, arrays)
    with pytest.raises(CannotRead) as caught:
        db.Agent.load(tmp_path / "hostile")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda about, arrays: about.update(dim=10**9), "dim"),
        (lambda about, arrays: about.update(dim=3), "last features"),
        (lambda about, arrays: about.pop("rng"), "is inconsistent"),
        (lambda about, arrays: about["rng"].update(state="x"), "is inconsistent"),
        (lambda about, arrays: about["rng"].update(bit_generator="MT19937"), "is inconsistent"),
        (lambda about, arrays: about.update(strategy={"part": "os:system"}), "import os first"),
        (lambda about, arrays: about.update(strategy={"part": "Agent"}), "not known"),
        (lambda about, arrays: about.update(strategy="x"), "is inconsistent|no method"),
        (lambda about, arrays: about["strategy"]["memory"].update(gamma=7.0), "is inconsistent|gamma"),
        (lambda about, arrays: about.update(room=10**12), "room"),
        (lambda about, arrays: about.update(open=[]), "is inconsistent"),
        (lambda about, arrays: arrays.pop("state.beta"), "beta"),
        (lambda about, arrays: arrays.update(extra=np.zeros(3), **{"state.more": np.zeros(1)}), "more"),
        (lambda about, arrays: arrays.update({"state.beta": np.zeros(1, np.int64)}), "beta"),
        (lambda about, arrays: arrays.update({"state.sums.A": np.zeros((3, 2))}), "shape"),
        (lambda about, arrays: arrays["state.sums.place"].__setitem__(0, 10**9), "outside"),
        (lambda about, arrays: arrays["state.sums.place"].__setitem__(1, -1), "outside"),
        (lambda about, arrays: arrays.update({"state.sums.X": np.zeros((2, 200))}), "shape|lengths"),
        (lambda about, arrays: arrays.update(x=np.zeros(1)), "last features"),
    ],
)
def test_hostile_files_are_refused_before_there_is_an_agent(tmp_path, change, words):
    import re

    assert re.search(words, hostile(tmp_path, change))


def test_no_file_and_no_folder(tmp_path):
    with pytest.raises(CannotRead, match="no such file"):
        db.Agent.load(tmp_path / "none")
    with pytest.raises(CannotRead, match="is a directory"):
        db.Agent.load(tmp_path)
    with pytest.raises(CannotWrite):
        played().save(tmp_path / "no" / "where")


class Halving(Memory):
    """A memory of the user's."""

    a: float


@elapse.register(Halving)
def _(memory, history, sums):
    history.clock[0] += 1


@recall.register(Halving)
def _(memory, history, sums, x, r, slot, weight, age):
    absorb(sums, x, r, slot, memory.a * weight)


def test_a_part_of_the_user_s_is_looked_up_never_imported(tmp_path, monkeypatch):
    strategy = db.zoo.oful(**LINEAR)._replace(memory=Halving(a=0.5))
    encoded = encode(strategy)
    assert encoded["memory"] == {"part": f"{Halving.__module__}:Halving", "a": 0.5}
    assert decode(json.loads(json.dumps(encoded))) == strategy
    encoded["memory"]["part"] = "antigravity:Halving"
    with pytest.raises(CannotRead, match="'Halving' is not known: import antigravity first"):
        decode(encoded)
    import sys

    assert "antigravity" not in sys.modules


def test_the_name_of_every_part_of_the_zoo_is_unique():
    def kinds(value):
        yield type(value)
        for field in value:
            if isinstance(field, tuple):
                yield from kinds(field)

    used = {kind for record in records() for kind in kinds(record.build())}
    assert len(used) > 20
    for kind in used:
        assert [k for k in known_parts() if part_name(k) == part_name(kind)] == [kind]


def test_numbers_that_json_lacks():
    assert decode(encode(float("inf"))) == float("inf")
    assert saving.finite({"a": np.array([1.0, np.inf]), "b": np.int64(3), "c": (np.nan,)}) == {
        "a": [1.0, None],
        "b": 3,
        "c": [None],
    }


def test_what_the_agent_says_of_itself():
    agent = played()
    assert repr(agent) == "Agent(Optimistic(Linear, Discounted, SelfNormalised, Bonus), dim=2, observations=7)"
