"""Saved and loaded is the same; anything else is one line."""

import json
import pathlib
import struct
import tracemalloc

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit import ledger_files
from driftbandits.bandit.ledger import Law, Ledger
from driftbandits.bandit.pending_files import ROWS
from driftbandits.bandit.saving import digest, from_bytes, to_bytes
from driftbandits.errors import CannotRead
from driftbandits.io import saving
from driftbandits.io.saving import KEY, _checksum, arrays

pytestmark = pytest.mark.xdist_group("bandit")
FIXTURE = pathlib.Path(__file__).parents[2] / "data" / "bandit_format_1.safetensors"


def small(features="hybrid", n=25, **settings):
    bandit = db.Bandit(features=features, reward="click", seed=5, **settings)
    rng = np.random.default_rng(0)
    for t in range(n):
        items = {name: {"x": float(rng.normal()), "kind": "pq"[t % 2]} for name in "abc"}
        d = bandit.decide(items, {"age": float(rng.integers(20, 60))}, at=1e9 + t)
        if t % 4:
            bandit.reward(d.id, t % 2)
    return bandit


@pytest.mark.parametrize("features", ["item", "interact", "disjoint", "hybrid"])
def test_resume_is_bit_exact(tmp_path, features):
    bandit = small(features)
    bandit.save(tmp_path / "b")
    again = db.Bandit.load(tmp_path / "b")
    assert to_bytes(again) == to_bytes(bandit)
    for t in range(15):
        items = {"a": {"x": 0.1 * t}, "new": {"fresh": float(t), "kind": "r"}}
        d, e = (
            bandit.decide(items, {"age": 30.0}, at=2e9 - 1e9 + t),
            again.decide(items, {"age": 30.0}, at=2e9 - 1e9 + t),
        )
        assert (d.item, d.propensities, d.scores) == (e.item, e.propensities, e.scores)
        bandit.reward(d.id, 1)
        again.reward(e.id, 1)
    assert digest(again) == digest(bandit)


def test_settings_are_saved(tmp_path):
    bandit = small(half_life="2h", explore=0.1, on_repeat="replace", max_pending=7, buckets=64)
    bandit.save(tmp_path / "b")
    again = db.Bandit.load(tmp_path / "b")
    assert again._config == bandit._config
    assert repr(again) == repr(bandit)


def test_a_function_must_be_given_again(tmp_path):
    f = lambda item, who: {"x": 1.0}  # noqa: E731
    bandit = db.Bandit(features=f)
    bandit.decide(["a"])
    bandit.save(tmp_path / "b")
    with pytest.raises(db.DriftBanditsError, match="files hold no code"):
        db.Bandit.load(tmp_path / "b")
    assert db.Bandit.load(tmp_path / "b", features=f).info()["decisions"] == 1


def changed(data, change):
    """The file with its JSON changed, lengths and checksum kept right."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    head = json.loads(header["__metadata__"][KEY])
    state = json.loads(head["about"])
    change(state, head)
    head["about"] = json.dumps(state)
    head["checksum"] = _checksum(head["about"], arrays(data))
    header["__metadata__"][KEY] = json.dumps(head)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


DAMAGE = {
    "later": lambda _, head: head.update(format=99),
    "no format": lambda _, head: head.pop("format"),
    "no learner": lambda s, _: s.pop("learner"),
    "columns gone": lambda s, _: s["learner"].update(pairs=[[0], [0]]),
    "a place too far": lambda s, _: s["learner"]["places"].update(at=[["a", 99]]),
    "a place taken twice": lambda s, _: s["learner"]["places"].update(at=[["a", 1], ["b", 1]]),
    "own columns gone": lambda s, _: s["learner"].update(own=[0]),
    "slots gone": lambda s, _: s["learner"]["items"].update(kinds=[0]),
    "another reward": lambda s, _: s["config"].update(reward="money"),
    "a decision nobody will make": lambda s, _: s.update(tick=10**300),
    "a number below zero": lambda s, _: s.update(tick=-1),
    "another mode": lambda s, _: s["learner"].update(mode="interact"),
    "an argument too many": lambda s, _: s["config"].update(evil=1),
}


def changed_rows(data, change):
    """The file with the rows of its waiting decisions changed, and its checksum right."""
    about, held = saving.from_bytes(data, "Bandit")
    held = dict(held)
    rows = json.loads(bytes(held[ROWS]))
    change(rows)
    held[ROWS] = np.frombuffer(json.dumps(rows).encode(), np.uint8)
    return saving.to_bytes("Bandit", about, held)


ROW_DAMAGE = {
    "numbers cut": lambda rows: rows["open"][0][3][0].__setitem__(1, 10**6),
    "negative": lambda rows: rows["open"][0][3][0].__setitem__(1, -1),
    "no rows": lambda rows: rows.pop("open"),
    "another offer": lambda rows: rows["open"][0][6].__setitem__(0, 10**6),
    "no offers": lambda rows: rows.pop("offers"),
    "a row cut": lambda rows: rows["open"].__setitem__(0, ["id"]),
    "a number for an id": lambda rows: rows["open"][0].__setitem__(0, 7),
    "a decision nobody has made": lambda rows: rows["open"][0].__setitem__(1, -(10**30)),
    "an id twice": lambda rows: rows["open"].append(rows["open"][0]),
}


@pytest.mark.parametrize("case", ROW_DAMAGE)
def test_damaged_rows_are_refused_in_one_line(case):
    data = changed_rows(to_bytes(small()), ROW_DAMAGE[case])
    with pytest.raises(db.DriftBanditsError) as problem:
        from_bytes(data, "x.bandit")
    assert "\n" not in str(problem.value)
    assert "x.bandit" in str(problem.value)


@pytest.mark.parametrize("rows", [b"", b"[", b"null", b"[]", b"\xff\xfe", b'{"open":{}}'])
def test_rows_that_are_no_rows_are_refused_in_one_line(rows):
    about, held = saving.from_bytes(to_bytes(small()), "Bandit")
    data = saving.to_bytes("Bandit", about, {**held, ROWS: np.frombuffer(rows, np.uint8)})
    with pytest.raises(db.DriftBanditsError, match=r"x\.bandit"):
        from_bytes(data, "x.bandit")


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_files_are_refused_in_one_line(case):
    data = changed(to_bytes(small()), DAMAGE[case])
    with pytest.raises(db.DriftBanditsError) as problem:
        from_bytes(data, "x.bandit")
    assert "\n" not in str(problem.value)
    assert "x.bandit" in str(problem.value)


@pytest.mark.parametrize("factor", [0.0, -1.0, 1e-300])
@pytest.mark.parametrize("side", ["items", "context"])
def test_a_scale_that_no_values_have_is_refused(side, factor):
    """Values are divided by it: scores would not be finite."""
    about, arrays = saving.from_bytes(to_bytes(small()), "Bandit")
    forged = saving.to_bytes("Bandit", about, {**arrays, f"{side}.s": factor * arrays[f"{side}.s"]})
    with pytest.raises(CannotRead, match="not those of any values"):
        from_bytes(forged, "x")


def test_a_file_that_claims_a_million_columns_is_refused_before_they_are_made():
    def widen(state, _):
        for side in ("items", "context"):
            table = state["learner"][side]
            table["kinds"], table["missing"] = [0, *[1] * 2000], [1.0, *[None] * 2000]
            table.pop("groups", None)

    data = changed(to_bytes(small()), widen)
    tracemalloc.start()
    with pytest.raises(db.DriftBanditsError, match="more than 500 columns"):
        from_bytes(data, "x.bandit")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6


def test_a_changed_file_does_not_fit_its_checksum():
    data = bytearray(to_bytes(small()))
    data[-9] ^= 1
    with pytest.raises(db.DriftBanditsError, match="checksum"):
        from_bytes(bytes(data), "x.bandit")


def test_cut_and_foreign_files_are_refused(tmp_path):
    data = to_bytes(small())
    for n in (0, 7, 8, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(db.DriftBanditsError, match="damaged"):
            from_bytes(data[:n], "cut")
    with pytest.raises(db.DriftBanditsError, match="damaged"):
        from_bytes(b"\x80\x04pickle" * 50, "pickle")
    with pytest.raises(db.DriftBanditsError, match="cannot be read"):
        db.Bandit.load(tmp_path / "nowhere")


def test_a_file_of_the_first_version_is_refused_in_one_line():
    """Its learner kept sums in coordinates that moved; they are not those of today's model."""
    with pytest.raises(db.DriftBanditsError, match=r"written by driftbandits 0\.1 or 0\.2") as problem:
        db.Bandit.load(FIXTURE)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("name", ["state.V", "state.own_S", "items.s"])
def test_numbers_that_are_not_finite_are_refused(name):
    bandit = small()
    _, arrays_ = bandit._learner.pack()
    arrays_[name][...] = np.nan
    with pytest.raises(db.DriftBanditsError, match="not finite"):
        from_bytes(to_bytes(bandit), "x.bandit")


def test_a_bandit_that_grew_past_its_short_memories_loads():
    """Above 32 columns the shortest memory takes no part, and its sums are not kept up."""
    bandit = db.Bandit(seed=0)
    for i in range(2):
        d = bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}, {"q": float(i)})
        bandit.reward(d.id, i)
    bandit.decide({"a": {"y": 1.0, "z": 1.0}, "b": {"y": 1.0, "z": 1.0}}, {"c": 1.0})
    assert digest(from_bytes(to_bytes(bandit), "b")) == digest(bandit)


def test_a_ranking_of_which_only_some_items_had_a_reward_is_saved():
    bandit = db.Bandit(reward="click", on_repeat="replace", seed=0)
    d = bandit.decide(["a", "b"], k=2)
    bandit.reward(d.id, {d.items[0]: 1})
    again = from_bytes(to_bytes(bandit), "x")
    for one in (bandit, again):
        one.reward(d.id, {d.items[1]: 1})
    assert to_bytes(again) == to_bytes(bandit)


def forged_pending(**changed):
    """A file with one decision that waits and one that was answered, of which some numbers were changed."""
    bandit = db.Bandit(reward="click", on_repeat="replace", seed=0)
    done, waits = bandit.decide(["a", "b"]), bandit.decide(["a", "b"])
    bandit.reward(done.id, 1)
    opened = bandit._pending.open[waits.id]
    law = opened.law._replace(**{key: value for key, value in changed.items() if key in ("p", "forecast", "names")})
    memo = opened.memos[0]._replace(**{key: value for key, value in changed.items() if key == "seen"})
    bandit._pending.open[waits.id] = opened._replace(law=law, memos=[memo])
    if "rewards" in changed:
        bandit._pending.closed[done.id] = bandit._pending.closed[done.id]._replace(rewards=changed["rewards"])
    return to_bytes(bandit)


@pytest.mark.parametrize(
    "changed",
    [
        {"p": np.array([-1.0, 2.0])},
        {"p": np.array([np.nan, np.nan])},
        {"forecast": np.array([np.nan, 0.0])},
        {"forecast": np.array([1e308, 0.0])},
        {"names": [True, "b"]},
        {"seen": np.array([np.inf, 1.0])},
        {"rewards": []},
        {"rewards": [1.0, 1.0]},
        {"rewards": [-1e308]},
    ],
    ids=repr,
)
def test_forged_decisions_are_refused(changed):
    assert from_bytes(forged_pending(), "x")
    with pytest.raises(CannotRead, match="x cannot be loaded"):
        from_bytes(forged_pending(**changed), "x")


@pytest.mark.parametrize("bounded", [True, False])
def test_sums_of_a_choice_that_was_very_unlikely_are_loaded(bounded):
    """Its weight is 1e12, and the square of that is in the sums."""
    law = Law(["a", "b"], np.array([1e-12, 1.0 - 1e-12]), np.array([0.5, 0.5]), chosen=0, first=1)
    ledger, again = Ledger(bounded=bounded, explore=0.0), Ledger(bounded=bounded, explore=0.0)
    ledger.add(law, 1.0, 1e9)
    ledger_files.unpack(again, *ledger_files.pack(ledger))
    assert ledger_files.pack(again)[1].max() > 1e23
    assert np.array_equal(ledger_files.pack(again)[1], ledger_files.pack(ledger)[1])
