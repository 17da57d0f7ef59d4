"""Everything that is saved, taken apart so that it can be forged, and how each is used afterwards."""

import contextlib
import json
import math
import pathlib
import sqlite3
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import driftbandits as db
from driftbandits.bandit.saving import digest, from_bytes, to_bytes
from driftbandits.bandit.store import Row, snapshot_checksum
from driftbandits.io import saving

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])


class Content(NamedTuple):
    """A file taken apart: JSON and arrays."""

    about: dict[str, Any]
    arrays: dict[str, Any]


class Forgery(NamedTuple):
    """A kind of file: its content, which is made once, how it is put together, and how the file is used."""

    name: str
    content: Content
    data: Callable[[Content], bytes]
    use: Callable[[bytes], None]


# -------------------------------------------------------------------------------------------------------------- what is saved


def offer(t: int) -> dict[str, dict[str, Any]]:
    return {name: {"x": float((t + k) % 5), "kind": "pq"[(t + k) % 2]} for k, name in enumerate("abc")}


def context(t: int) -> dict[str, Any]:
    return {"age": float(t % 7)}


BANDITS: dict[str, dict[str, Any]] = {
    "of values, items": {"features": "item"},
    "of clicks, interactions": {"features": "interact", "reward": "click"},
    "of counts, disjoint": {"features": "disjoint", "reward": "count"},
    "of amounts, hybrid": {"features": "hybrid", "reward": "amount", "half_life": 30.0},
    "of values, linear, timed": {"features": "linear", "half_life": "2h"},
    "diagonal": {"buckets": 8},
    "with a strategy": {"strategy": "lb"},
}


def bandit_of(name: str) -> db.Bandit:
    """A bandit that has decided, learned, and waits: singles, rankings, a deferred decision."""
    settings = dict(BANDITS[name])
    if "strategy" in settings:
        settings["strategy"] = db.zoo.lb_weight_ucb(gamma=0.95, lam=1.0, S=1.0, L=100.0, R=1.0, delta=0.1)
    bandit = db.Bandit(seed=3, **settings)
    vectors = settings.get("features") == "linear"
    for t in range(16):
        bandit.reward(_decided(bandit, t, vectors).id, t % 2)
    if name == "diagonal":
        wide = {"w": {f"f{i}": float(i % 3) for i in range(520)}, "v": {"x": 1.0}}
        bandit.reward(bandit.decide(wide, at=1e9 + 16).id, 1)
    _decided(bandit, 17, vectors)
    if "strategy" not in settings and not vectors:
        bandit.decide(offer(18), context(18), k=2, at=1e9 + 18)
        bandit.decide(offer(19), context(19), at=1e9 + 19, defer=True)
    return bandit


def _decided(bandit: db.Bandit, t: int, vectors: bool = False) -> Any:
    if vectors:
        return bandit.decide({"a": [1.0, t % 3], "b": [0.5, 1.0]}, at=1e9 + t)
    return bandit.decide(offer(t), context(t), at=1e9 + t)


def challenged() -> db.Bandit:
    """A bandit with two challengers, one of which has a shadow."""
    bandit = db.Bandit(seed=3, reward="click")
    bandit.challenge("short", half_life=20.0)
    bandit.challenge("plain", features="item")
    for t in range(16):
        bandit.reward(_decided(bandit, t).id, t % 2)
    _decided(bandit, 17)
    return bandit


def use_bandit(data: bytes) -> None:
    """Load it, look at it, go on, and save it twice with the same bytes."""
    bandit = from_bytes(data, "forged")
    bandit.info()
    vectors = bandit._config["features"] == "linear"
    for t in range(20, 23):
        d = _decided(bandit, t, vectors)
        assert all(map(math.isfinite, d.scores.values())), "a score is not finite"
        assert abs(sum(d.propensities.values()) - 1.0) < 1e-6, "probabilities do not sum to 1"
        bandit.reward(d.id, 1)
    for id_ in [*bandit._pending.open][:3]:
        with contextlib.suppress(db.DriftBanditsError):  # a ranking, a deferred one
            bandit.reward(id_, 1)
    saved = to_bytes(bandit)
    again = from_bytes(saved, "saved again")
    assert to_bytes(again) == saved, "saved twice, it differs"


AGENTS: dict[str, Callable[[], Any]] = {
    "sw_ucb": lambda: db.zoo.sw_ucb(window=6, R=0.1, lam=1.0, S=1.0, L=1.0, delta=0.1),
    "glb_weight_ucb": lambda: db.zoo.glb_weight_ucb(gamma=0.9, estimator="exact", lam=1.0, S=1.0, L=1.0, delta=0.1),
    "self_tuning": lambda: db.zoo.self_tuning(),
    "lb_weight_ucb": lambda: db.zoo.lb_weight_ucb(gamma=0.9, R=0.1, lam=1.0, S=1.0, L=1.0, delta=0.1),
}


def agent_of(name: str) -> Content:
    agent = db.Agent(AGENTS[name](), dim=2, seed=1, compile="never")
    for t in range(10):
        agent.select(ARMS)
        agent.update(float(t % 2))
    agent.select(ARMS)
    return Content(*agent.pack())


def use_agent(data: bytes) -> None:
    agent = db.Agent.unpack(*saving.from_bytes(data, "Agent"), compile="never")
    agent.update(1.0, age=0)
    for _ in range(2):
        agent.select(ARMS)
        agent.update(0.5)
    assert np.isfinite(agent.scores(ARMS)).all(), "a score is not finite"
    about, arrays = agent.pack()
    again = db.Agent.unpack(*saving.from_bytes(saving.to_bytes("Agent", about, arrays), "Agent"), compile="never")
    assert again.select(ARMS) == agent.select(ARMS), "saved, it chooses otherwise"


EPISODIC: dict[str, Callable[[], Any]] = {
    "weight_ucrl": lambda: db.zoo.weight_ucrl(gamma=0.9),
    "detect_ucrl": lambda: db.zoo.detect_ucrl(db.zoo.weight_ucrl(gamma=0.9)),
    "bob_ucrl": lambda: db.zoo.bob_ucrl(db.zoo.weight_ucrl(gamma=0.9), episodes=20),
    "master_ucrl": lambda: db.zoo.master_ucrl(db.zoo.ucrl_vtr(), episodes=20),
}


def episodic_of(name: str) -> Content:
    agent = db.EpisodicAgent(EPISODIC[name](), db.mdp.tabular(3, 2), horizon=3, seed=1, compile="never")
    for _ in range(2):
        agent.begin_episode()
        for h in range(3):
            agent.observe(h, h, agent.act(h, h), 0.5, (h + 1) % 3)
    agent.begin_episode()
    return Content(*agent.pack())


def use_episodic(data: bytes) -> None:
    agent = db.EpisodicAgent.unpack(*saving.from_bytes(data, "EpisodicAgent"), compile="never")
    agent.begin_episode()
    agent.observe(0, 0, agent.act(0, 0), 0.5, 1)
    about, arrays = agent.pack()
    saved = saving.from_bytes(saving.to_bytes("EpisodicAgent", about, arrays), "EpisodicAgent")
    again = db.EpisodicAgent.unpack(*saved, compile="never")
    assert again.act(1, 1) == agent.act(1, 1), "saved, it acts otherwise"


# -------------------------------------------------------------------------------------------------------------- the durable file


def durable_content() -> Content:
    """Rows of the log, snapshots and the small tables, as JSON and arrays."""
    with tempfile.TemporaryDirectory(prefix="forged-") as top:
        path = pathlib.Path(top) / "x.bandit"
        with db.Bandit.open(path, seed=3, reward="click") as bandit:
            for t in range(12):
                d = _decided(bandit, t)
                if t % 3:
                    bandit.reward(d.id, t % 2, at=1e9 + t)
                if t == 5:
                    bandit.take_snapshot()
            bandit.observe("a", reward=1)
            bandit.drop("c")
            later = bandit.decide(offer(1), context(1), defer=True)
            bandit.activate(later.id)
            bandit.forget_feature("x")
            bandit.expire(0.0)
            bandit._last = math.inf  # closing takes a snapshot: rows would not be read
            _rows_only(bandit)
        with contextlib.closing(sqlite3.connect(path)) as file:
            tables = {
                name: [list(row) for row in file.execute(f"SELECT * FROM {name} ORDER BY 1")]
                for name in ("log", "refused", "claims", "deleted", "sqlite_sequence")
            }
            states = file.execute("SELECT seq, at, state FROM snapshots ORDER BY seq").fetchall()
            schema = [
                s
                for (s,) in file.execute(
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
                )
            ]
            marks = [file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    for row in tables["log"]:
        row[9] = None if row[9] is None else json.loads(row[9])
    tables["snapshots"] = [[seq, at] for seq, at, _ in states]
    arrays = {f"state {i}": np.frombuffer(state, np.uint8) for i, (_, _, state) in enumerate(states)}
    return Content({"tables": tables, "schema": schema, "marks": marks}, arrays)


def _rows_only(bandit: Any) -> None:
    """Close it as a killed process does: without a snapshot of what came last."""
    bandit._since = 0


def durable_data(content: Content) -> bytes:
    """The file again, with checksums that fit; what SQLite itself refuses to keep is no file."""
    with tempfile.TemporaryDirectory(prefix="forged-") as top:
        path = pathlib.Path(top) / "x.bandit"
        with contextlib.closing(sqlite3.connect(path)) as file:
            for statement in content.about["schema"]:
                file.execute(statement)
            tables = content.about["tables"]
            for row in tables["log"]:
                row = [*row[:9], None if row[9] is None else json.dumps(row[9]), None]
                kept = file.execute("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", row[:10]).fetchone()
                file.execute(f"INSERT INTO log VALUES ({', '.join('?' * 11)})", row)
                stored = file.execute("SELECT * FROM log ORDER BY rowid DESC LIMIT 1").fetchone() if kept else None
                if stored is not None:
                    seq = stored[0]
                    whole = file.execute("SELECT * FROM log WHERE seq = ?", (seq,)).fetchone()
                    file.execute("UPDATE log SET checksum = ? WHERE seq = ?", (Row(*whole[:-1]).checksum(), seq))
            for name in ("refused", "claims", "deleted"):
                for row in tables[name]:
                    file.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
            file.execute("DELETE FROM sqlite_sequence")
            for row in tables["sqlite_sequence"]:
                file.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", row)
            for i, (seq, at) in enumerate(tables["snapshots"]):
                state = bytes(content.arrays.get(f"state {i}", np.zeros(0, np.uint8)))
                mark = snapshot_checksum(int(seq), state)
                file.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?)", (seq, at, state, mark))
            for name, value in zip(("application_id", "user_version"), content.about["marks"], strict=True):
                file.execute(f"PRAGMA {name}={value}")
            file.commit()
        return path.read_bytes()


def use_durable(data: bytes) -> None:
    """Open it as the learner, go on, open it again: the same. Then as a follower and as a log."""
    with tempfile.TemporaryDirectory(prefix="forged-") as top:
        path = pathlib.Path(top) / "x.bandit"
        path.write_bytes(data)
        with db.Bandit.open(path) as bandit:
            bandit.info()
            for t in range(20, 22):
                d = _decided(bandit, t)
                assert all(map(math.isfinite, d.scores.values())), "a score is not finite"
                bandit.reward(d.id, 1)
            state = digest(bandit)
        with db.Bandit.open(path) as again:
            assert digest(again) == state, "opened twice, it differs"
        with db.Bandit.follow(path) as follower:
            follower.reward(_decided(follower, 23).id, 1)
        with contextlib.suppress(db.DriftBanditsError):
            list(db.Log.read(path))
        with db.Bandit.open(path):
            pass


def kinds() -> list[Forgery]:
    """Every kind of file."""
    made = []
    for name in BANDITS:
        content = Content(*saving.from_bytes(to_bytes(bandit_of(name)), "Bandit"))
        made.append(Forgery(f"Bandit {name}", content, lambda c: saving.to_bytes("Bandit", *c), use_bandit))
    content = Content(*saving.from_bytes(to_bytes(challenged()), "Bandit"))
    made.append(Forgery("Bandit with challengers", content, lambda c: saving.to_bytes("Bandit", *c), use_bandit))
    made += [
        Forgery(f"Agent {name}", agent_of(name), lambda c: saving.to_bytes("Agent", *c), use_agent) for name in AGENTS
    ]
    made += [
        Forgery(
            f"EpisodicAgent {name}", episodic_of(name), lambda c: saving.to_bytes("EpisodicAgent", *c), use_episodic
        )
        for name in EPISODIC
    ]
    made.append(Forgery("durable file", durable_content(), durable_data, use_durable))
    return made
