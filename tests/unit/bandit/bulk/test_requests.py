"""Decisions of a durable bandit that are asked for together: the same as one by one, and the same log."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits.bandit.bulk import requests
from driftbandits.bandit.bulk.requests import RefusedAt
from driftbandits.bandit.changes import Wanted
from driftbandits.bandit.durable import Durable
from driftbandits.bandit.saving import digest
from driftbandits.bandit.stored import StoredBandit

pytestmark = pytest.mark.xdist_group("bandit")
NAMES = ["a", "b", "c", "d", "e"]
PRICED = {name: {"price": 2.0, "kind": "x"} for name in NAMES}


def asked(rng, kind, many, start):
    """Decisions of some kind: names alone, features of which some are missing, vectors; most show nothing new."""
    wanted = []
    for t in range(many):
        names = [str(name) for name in rng.permutation(NAMES)[: rng.integers(2, 5)]]
        if rng.random() < 0.03:
            names.append(f"new {start + t}")
        features = {
            "names": lambda: None,
            "features": lambda: {"price": rng.normal(), "kind": str(rng.choice(["x", "y"])), "on": True},
            "missing": lambda: {k: v for k, v in (("p", 1.0), ("q", rng.normal()), ("s", "x")) if rng.random() < 0.7},
            "vectors": lambda: [*rng.normal(size=3)],
        }[kind]
        items = {name: features() for name in names}
        context = (
            {"age": int(rng.integers(20, 60)), "land": str(rng.choice(["se", "no"]))} if rng.random() < 0.8 else None
        )
        k = 2 if rng.random() < 0.03 else 1
        wanted.append(Wanted(items, context, 1.7e9 + start + t, k, f"{start + t}"))
    return wanted


def rows(bandit):
    """The log without what differs from process to process."""
    return [row._replace(writer=None) for row in bandit.store.rows(0, 10_000)]


def over_random_logs(test):
    """Seeds, kinds of features and modes; compiled, because what is compared is equal bit for bit in machine code."""
    cases = given(
        seed=st.integers(0, 10**6),
        kind=st.sampled_from(["names", "features", "missing", "vectors"]),
        mode=st.sampled_from(["item", "interact", "disjoint", "hybrid"]),
    )
    return pytest.mark.compiled(settings(max_examples=8, deadline=None)(cases(test)))


@over_random_logs
def test_decisions_made_together_are_those_made_one_by_one(tmp_path_factory, seed, kind, mode):
    folder, rng = tmp_path_factory.mktemp("two"), np.random.default_rng(seed)
    made = {"features": mode, "seed": seed, "half_life": [None, 30, "1min"][seed % 3], "max_items": 5 + seed % 2}
    with db.Bandit.open(folder / "a.db", **made) as a, db.Bandit.open(folder / "b.db", **made) as b:
        for step in range(4):
            wanted = asked(rng, kind, 30, 30 * step)
            together = a.decide_many(wanted)
            single = [b.decide(**one._asdict()) for one in wanted]
            assert [d.to_dict() for d in together] == [d.to_dict() for d in single]
            assert digest(a) == digest(b)
            for d in single[::2]:
                r = float(rng.normal())
                for bandit in (a, b):
                    bandit.reward(d.id, dict.fromkeys(d.items, r), at=d.at + 1.0)
            assert digest(a) == digest(b)
        assert rows(a) == rows(b)
        end = digest(a)
    with db.Bandit.open(folder / "a.db", **made) as again:
        assert digest(again) == end


def ready(path, **settings):
    """A durable bandit that knows five items with two features."""
    bandit = db.Bandit.open(path, seed=0, **settings)
    for t in range(8):
        bandit.decide({name: {"price": 1.0, "kind": "x"} for name in NAMES}, {"age": 30 + t})
    return bandit


def plain(many, **more):
    return [Wanted({name: {"price": 2.0 + t, "kind": "x"} for name in NAMES}, {"age": 31}, **more) for t in range(many)]


def counted(monkeypatch, bandit):
    """The calls of `decide`, and statements that write rows."""
    alone, statements = [], []
    go = StoredBandit.decide
    monkeypatch.setattr(StoredBandit, "decide", lambda self, *a, **b: (alone.append(a or b), go(self, *a, **b))[1])
    bandit.store._db.set_trace_callback(lambda sql: statements.append(sql.partition(" ")[0]))
    return alone, statements


def test_a_batch_is_one_walk_and_one_transaction(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as bandit:
        alone, statements = counted(monkeypatch, bandit)
        assert len({d.id for d in bandit.decide_many(plain(40))}) == 40
        assert not alone
        assert (statements.count("BEGIN"), statements.count("COMMIT"), statements.count("INSERT")) == (1, 1, 40)


def test_one_new_item_divides_a_batch(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as bandit:
        alone, _ = counted(monkeypatch, bandit)
        wanted = plain(64)
        wanted[37] = wanted[37]._replace(items={"new": {"price": 1.0, "kind": "x"}})
        assert bandit.decide_many(wanted)[37].item == "new"
        assert len(alone) == 2  # its neighbour in the last half, too


def test_ids_are_answered_once(tmp_path):
    with ready(tmp_path / "a.db") as bandit:
        (before,) = bandit.decide_many([plain(1)[0]._replace(id="x")])
        wanted = [one._replace(id=id_) for one, id_ in zip(plain(5), ("y", "x", "y", None, "z"), strict=True)]
        y, x, y2, _, z = bandit.decide_many(wanted)
        assert x.to_dict() | {"tick": 0} == before.to_dict() | {"tick": 0}
        assert y is y2
        assert [d.to_dict() | {"tick": 0} for d in bandit.decide_many(wanted[:2])] == [
            d.to_dict() | {"tick": 0} for d in (y, x)
        ]
        assert bandit.info()["decisions"] == 8 + 1 + 3
        assert bandit.decide_at_once([wanted[4]]) is None  # its id is not new
        assert z.id == "z"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"items": {"a": {"price": "high"}}}, "'price' = 'high' is a string and was a number"),
        ({"items": []}, "items is empty"),
        ({"context": {"age": float("inf")}}, "'age' = inf"),
        ({"k": 9}, "k = 9 is not allowed"),
        ({"id": ""}, "id = '' is not allowed"),
    ],
)
def test_the_first_that_is_refused_is_named_and_none_is_made(tmp_path, broken, says):
    with ready(tmp_path / "a.db") as bandit:
        before, rows_ = digest(bandit), bandit.store.last()
        wanted = plain(9)
        wanted[5], wanted[7] = wanted[5]._replace(**broken), wanted[7]._replace(items=[])
        with pytest.raises(RefusedAt) as refused:
            bandit.decide_many(wanted)
        assert refused.value.place == 5
        assert says in str(refused.value.problem)
        assert (digest(bandit), bandit.store.last()) == (before, rows_)


def test_an_interrupt_leaves_the_state_of_the_log(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as bandit:
        before = digest(bandit)
        monkeypatch.setattr(requests, "pass_time", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bandit.decide_many(plain(5))
        assert digest(bandit) == before


def test_decisions_that_wait_do_not_keep_their_whole_batch(tmp_path):
    with ready(tmp_path / "a.db") as bandit:
        bandit.decide_many(plain(50))
        opened = bandit._pending.open.popitem()[1]
        memo, law = opened.memos[0], opened.law
        assert all(array.base is None for array in (memo.row, memo.context, memo.seen, law.p, law.forecast))


def test_batches_of_a_follower_are_in_the_log(tmp_path):
    with ready(tmp_path / "a.db") as learner:
        learner.take_snapshot()
        with db.Bandit.follow(tmp_path / "a.db") as follower:
            frame = pd.DataFrame({"age": [31, 32, 33]})
            made = follower.decide_batch(frame, offers=PRICED)
            assert follower.reward_batch(made[["id"]].assign(reward=1.0)) == 3
            assert not follower._pending.open
        assert learner.absorb() == 6
        assert (learner.info()["decisions"], learner.info()["rewards"]) == (11, 3)


def test_a_frame_of_a_durable_bandit_is_one_walk(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as bandit:
        alone, statements = counted(monkeypatch, bandit)
        offers = PRICED
        made = bandit.decide_batch(pd.DataFrame({"age": [31.0] * 20}), offers=offers)
        assert not alone
        assert statements.count("COMMIT") == 1
        bandit.store._db.set_trace_callback(None)
        data = [json.loads(row.data) for row in bandit.store.rows(8, 100)]
        assert [one["shown"][0] for one in data] == made["item"].tolist()


@over_random_logs
def test_rows_of_others_are_applied_as_one_by_one(tmp_path_factory, seed, kind, mode):
    folder, rng = tmp_path_factory.mktemp("two"), np.random.default_rng(seed)
    made = {"features": mode, "seed": seed, "max_items": 5 + seed % 2}
    with db.Bandit.open(folder / "a.db", **made) as learner:
        learner.decide_many(asked(rng, kind, 5, 0))
        learner.take_snapshot()
        with db.Bandit.follow(folder / "a.db") as follower:
            for step in range(4):
                decided = follower.decide_many(asked(rng, kind, 40, 5 + 40 * step))
                for d in decided[: int(rng.integers(20))]:
                    follower.reward(d.id, float(rng.normal()))
        learner.absorb()
        rows_, end = learner.store.rows(0, 10_000), digest(learner)
        assert learner.info()["refused"] == 0
    single = Durable(**made)
    for row in rows_:
        single._change_of(row)()
    assert digest(single) == end


def test_most_rows_of_others_are_applied_together(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as learner:
        learner.take_snapshot()
        with db.Bandit.follow(tmp_path / "a.db") as follower:
            follower.decide_many(plain(100))
            alone, go = [], Durable._apply
            monkeypatch.setattr(Durable, "_apply", lambda self, row: (alone.append(row.seq), go(self, row)))
            assert learner.absorb() == 100
            assert (alone, learner.info()["decisions"]) == ([], 108)


def test_a_row_that_fails_is_set_aside_and_the_others_are_applied(tmp_path, monkeypatch):
    with ready(tmp_path / "a.db") as learner:
        learner.take_snapshot()
        with db.Bandit.follow(tmp_path / "a.db") as follower:
            made = follower.decide_many(plain(20))
        put = type(learner._pending).put

        def broken(self, id_, opened):
            if id_ == made[7].id:
                raise RuntimeError("broken")
            return put(self, id_, opened)

        monkeypatch.setattr(type(learner._pending), "put", broken)
        assert learner.absorb() == 20
        assert learner.info()["refused"] == 1
        assert [d.id for d in made if d.id in learner._pending.open] == [d.id for d in made if d is not made[7]]
