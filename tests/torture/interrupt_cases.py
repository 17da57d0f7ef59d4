"""What is interrupted: every call of agents, of bandits in memory and in files, and of followers."""

import json
import pathlib
import pickle
import shutil
import tempfile
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.bandit import ledger_files
from driftbandits.bandit.saving import digest
from torture.interrupts import Case

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
MANY = np.tile(ARMS, (3, 1)) * np.linspace(1.0, 0.5, 9)[:, None]
STRATEGIES = {
    "weighted": db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.1),
    "window": db.zoo.sw_ucb(window=4, lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.1),
    "self-tuning": db.zoo.self_tuning(),
}


# ----------------------------------------------------------------------------------------------------------------- agents


def agent_case(name: str, call: str) -> Case:
    """A call of an agent that has seen a few rounds."""
    agent = db.Agent(STRATEGIES[name], dim=2, seed=1, compile="now")
    for t in range(7):
        k = agent.select(ARMS)
        if t != 5:
            agent.update(0.1 * k, age=0)
    if call.startswith("update"):
        agent.select(ARMS)
    about, arrays = agent.pack()

    def make() -> Any:
        return db.Agent.unpack(about, arrays, compile="now")

    calls = {
        "select": lambda a: a.select(ARMS),
        "select more arms": lambda a: a.select(MANY),
        "update": lambda a: a.update(0.3, age=0),
        "update late": lambda a: a.update(0.3, x=ARMS[1], age=2),
        "update weighted": lambda a: a.update(0.3, x=ARMS[2], weight=0.5),
        "scores": lambda a: a.scores(MANY),
        "propensities": lambda a: a.propensities(MANY),
        "pack": lambda a: a.pack(),
    }
    return Case(make, calls[call], follow_agent)


def follow_agent(agent: Any) -> Any:
    """The next rounds: what is chosen, what is estimated."""
    seen: list[Any] = [agent.pack()[0]["open"]]
    for _ in range(3):
        seen.append(agent.select(MANY))
        agent.update(0.2, age=0)
        seen.append(agent.theta.tobytes())
    return seen


AGENT_CALLS = [
    *(("weighted", call) for call in ("select", "select more arms", "update", "update late", "update weighted", "scores", "pack")),
    *(("window", call) for call in ("select", "update", "update late")),
    *(("self-tuning", call) for call in ("select", "select more arms", "update", "propensities")),
]  # fmt: skip


def episodic_case(call: str) -> Case:
    """A call of an episodic agent in the middle of an episode."""
    strategy = db.zoo.weight_ucrl(gamma=0.9)
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(3, 2), horizon=3, episodes=20, seed=1, compile="now")
    for _ in range(2):
        agent.begin_episode()
        for h in range(3):
            agent.observe(h, h, agent.act(h, h), 0.5, (h + 1) % 3)
    agent.begin_episode()
    agent.observe(0, 0, 1, 1.0, 1)
    about, arrays = agent.pack()
    calls = {
        "begin_episode": lambda a: a.begin_episode(),
        "observe": lambda a: a.observe(1, 1, 0, 0.5, 2),
        "observe the end": lambda a: a.observe(1, 1, 0, 0.5, 2, terminated=True),
    }

    def follow(a: Any) -> Any:
        about = a.pack()[0]
        return [about["stage"], about["over"], a.begin_episode().tobytes(), a.values.tobytes()]

    return Case(lambda: db.EpisodicAgent.unpack(about, arrays, compile="now"), calls[call], follow)


# ---------------------------------------------------------------------------------------------------------------- bandits


def offer(t: int) -> dict[str, dict[str, Any]]:
    return {name: {"x": float((t + k) % 5)} for k, name in enumerate("abc")}


def played(bandit: Any, rounds: int = 12) -> list[str]:
    """Ids; those of the last decisions wait."""
    ids = [bandit.decide(offer(t), at=float(t)).id for t in range(rounds)]
    for t, id_ in enumerate(ids[:-4]):
        bandit.reward(id_, float(t % 2))
    return ids


NEW = {name: {"x": 1.0, "new": 2.0 + k, "kind": name} for k, name in enumerate("abcd")}
FRAME = {"item": ["a", "b", "c"], "reward": [1.0, 0.0, 0.5], "x": [1.0, 2.0, 3.0]}


def bandit_calls(ids: list[str]) -> dict[str, Any]:
    """Everything that is done with a bandit."""
    import pyarrow as pa

    return {
        "decide": lambda b: b.decide(offer(3), at=50.0),
        "decide with new features": lambda b: b.decide(NEW, {"who": "me"}, at=50.0),
        "decide a ranking": lambda b: b.decide(offer(3), at=50.0, k=2),
        "reward": lambda b: b.reward(ids[-1], 1.0),
        "reward late": lambda b: b.reward(ids[-3], 1.0, weight=0.5),
        "observe": lambda b: b.observe({"x": 2.0}, reward=1.0, at=50.0),
        "expire": lambda b: b.expire(older_than=2.0, reward=0.0, at=12.0),
        "drop": lambda b: b.drop("b"),
        "forget_feature": lambda b: b.forget_feature("x"),
        "fit": lambda b: b.fit(pa.table(FRAME), item="item", reward="reward"),
        "decide_batch": lambda b: b.decide_batch(
            pa.table({"age": [1.0, 2.0], "at": [50.0, 51.0]}), offers=offer(2), time="at"
        ),
        "reward_batch": lambda b: b.reward_batch(pa.table({"id": ids[-2:], "reward": [1.0, 0.0]})),
        "estimate": lambda b: b.estimate(offer(1)),
        "info": lambda b: b.info(),
        "save": lambda b: b.save(pathlib.Path(tempfile.gettempdir()) / "interrupted.bandit"),
    }


MODES = {"interact": {}, "disjoint": {"features": "disjoint"}, "names": {}}


def challenged_case(call: str) -> Case:
    """A call of a bandit in memory that has two challengers; ids are given, so that all is the same each time."""
    bandit = db.Bandit(seed=3)
    bandit.challenge("short", half_life=5)
    bandit.challenge("own", features="disjoint")
    ids = played(bandit)
    saved = pickle.dumps(bandit)
    calls = bandit_calls(ids) | {"decide": lambda b: b.decide(offer(3), at=50.0, id="mine")}
    return Case(lambda: pickle.loads(saved), calls[call], follow_challenged)


def parts_case() -> Case:
    """Merging: the parts are what they were, and the sum is made or not."""
    import pyarrow as pa

    logs = pa.table(FRAME), pa.table(FRAME | {"reward": [0.0, 1.0, 0.25]})
    parts = [db.Bandit(seed=3).fit(log, item="item", reward="reward") for log in logs]
    saved = pickle.dumps(parts)
    return Case(lambda: pickle.loads(saved), lambda two: two[0].merge(two[1]), lambda two: [*map(whole, two)])


def memory_case(mode: str, call: str) -> Case:
    """A call of a bandit in memory."""
    bandit = db.Bandit(seed=3, **MODES[mode])
    ids = played(bandit)
    saved = pickle.dumps(bandit)
    return Case(lambda: pickle.loads(saved), bandit_calls(ids)[call], follow_bandit)


def whole(bandit: Any) -> Any:
    """What was learned and waits, the change detectors, the ledger, and the same of every challenger."""
    about, came, ring = bandit._arrivals.pack()
    books, sums = ledger_files.pack(bandit._ledger)
    rivals = [
        (name, c.problem, None if c.shadow is None else whole(c.shadow)) for name, c in bandit._challengers.items()
    ]
    return [digest(bandit), json.dumps([about, books]), came.tobytes(), ring.tobytes(), sums.tobytes(), rivals]


def follow_challenged(bandit: Any) -> Any:
    """The whole state, with challengers, and that it goes on."""
    seen = whole(bandit)
    bandit.reward(bandit.decide(offer(1), at=60.0).id, 1.0)
    return [seen, whole(bandit)]


def follow_bandit(bandit: Any) -> Any:
    """The whole state, and that it goes on."""
    seen = [digest(bandit), bandit.info()["pending"]]
    d = bandit.decide(offer(1), at=60.0)
    bandit.reward(d.id, 1.0)
    return [*seen, d.item, sorted(d.propensities.items()), digest(bandit)]


# ---------------------------------------------------------------------------------------------------------- durable bandits


class Folder:
    """Files of one case, copied for each attempt."""

    def __init__(self) -> None:
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="interrupts-"))
        self.source, self.number = self.top / "source.bandit", 0
        self.last: Any = None  # the one in use

    def copy(self) -> pathlib.Path:
        """A fresh copy."""
        self.number += 1
        path = self.top / f"{self.number}.bandit"
        shutil.copy(self.source, path)
        return path


def durable_case(call: str) -> Case:
    """A call of a durable bandit, a follower of which has written rows that it has not absorbed."""
    folder = Folder()
    with db.Bandit.open(folder.source, seed=3) as bandit:
        ids = played(bandit)
    theirs: list[str] = []
    calls = bandit_calls(ids) | {
        "absorb": lambda b: b.absorb(),
        "close": lambda b: b.close(),
        "backup": lambda b: b.backup(folder.top / "backup.bandit"),
        "reward of a follower's decision": lambda b: b.reward(theirs[1], 1.0),
    }

    def make() -> Any:
        if folder.last is not None:
            _let_go(folder.last)
        path = folder.copy()
        folder.last = db.Bandit.open(path)
        if call in ("absorb", "reward of a follower's decision"):
            with db.Bandit.follow(path) as follower:
                follower._chance = 7  # else it draws its own
                theirs[:] = [follower.decide(offer(t), at=20.0 + t).id for t in range(3)]
                follower.reward(theirs[0], 1.0)
        return folder.last

    def follow(bandit: Any) -> Any:
        if call == "close":
            _let_go(bandit)
            bandit = folder.last = db.Bandit.open(bandit._store.name)
        bandit.absorb()
        live = digest(bandit)
        seen = follow_bandit(bandit)
        _let_go(bandit)
        with db.Bandit.open(bandit._store.name) as again:  # from the log
            assert digest(again) == seen[-1], "the log is not the state"
        return [live, *seen]

    return Case(make, calls[call], follow)


def durable_challenged_case(call: str) -> Case:
    """A call of a durable bandit that has two challengers, the decisions of which are partly older than these."""
    folder = Folder()
    with db.Bandit.open(folder.source, seed=3) as bandit:
        first = bandit.decide(offer(0), at=0.0)
        bandit.challenge("short", half_life=5)
        bandit.challenge("own", features="disjoint")
        played(bandit)
    calls = {
        "challenge": lambda b: b.challenge("new", half_life=9),
        "promote": lambda b: b.promote("short"),
        "drop_challenger": lambda b: b.drop_challenger("own"),
        "value": lambda b: b.value("short"),
        "explain": lambda b: b.explain(first.id),
        "health": lambda b: b.health(),
    }

    def make() -> Any:
        if folder.last is not None:
            _let_go(folder.last)
        folder.last = db.Bandit.open(folder.copy())
        return folder.last

    def look(bandit: Any) -> Any:
        bandit._ledger.flush()
        return [repr(bandit), *whole(bandit)]

    def follow(bandit: Any) -> Any:
        live = look(bandit)
        bandit.reward(bandit.decide(offer(1), at=60.0, id="after").id, 1.0)
        seen = [live, look(bandit)]
        _let_go(bandit)
        with db.Bandit.open(bandit._store.name) as again:  # from the log
            assert look(again) == seen[-1], "the log is not the state"
        return seen

    return Case(make, calls[call], follow)


def _let_go(bandit: Any) -> None:
    """As a process that dies."""
    if bandit._held is not None:
        bandit._store.close()
        bandit._held.close()


DURABLE_CALLS = [
    *bandit_calls([""] * 4), "absorb", "close", "backup", "reward of a follower's decision",
]  # fmt: skip


def open_case(new: bool) -> Case:
    """Opening a file, or making it."""
    folder = Folder()
    if not new:
        with db.Bandit.open(folder.source, seed=3) as bandit:
            played(bandit)

    def make() -> Any:
        folder.number += 1
        path = folder.top / f"{folder.number}.bandit"
        if not new:
            shutil.copy(folder.source, path)
        return path

    def follow(path: Any) -> Any:
        with db.Bandit.open(path, seed=3) as bandit:
            return follow_bandit(bandit)

    return Case(make, lambda path: db.Bandit.open(path, seed=3).close(), follow)


def follower_case(call: str) -> Case:
    """A call of a follower; what counts is what the learner finds."""
    folder = Folder()
    with db.Bandit.open(folder.source, seed=3) as bandit:
        ids = played(bandit)

    def make() -> Any:
        if folder.last is not None:
            folder.last.close()
        folder.last = db.Bandit.follow(folder.copy(), refresh=1e-6)
        folder.last._chance = 7  # else it draws its own
        return folder.last

    def follow(follower: Any) -> Any:
        d = follower.decide(offer(2), at=70.0)
        follower.reward(d.id, 1.0)
        follower.close()
        with db.Bandit.open(follower._store.name) as bandit:
            info = bandit.info()
            return [info[name] for name in ("decisions", "rewards", "pending", "refused")]

    calls = {"decide": lambda f: f.decide(offer(3), at=50.0), "reward": lambda f: f.reward(ids[-1], 1.0)}
    return Case(make, calls[call], follow)
