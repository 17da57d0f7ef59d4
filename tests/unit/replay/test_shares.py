"""A replay on Dask: the numbers of one pass in this process, to the last bit, whatever the shares; errors in one line."""

import contextlib
import functools

import numpy as np
import pytest
from conftest import sized

import driftbandits as db
import logs
from driftbandits.replay.answer import answer
from driftbandits.replay.evaluation import replay
from driftbandits.util import tasks

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]


@contextlib.contextmanager
def cluster(*, processes):
    """The address of a cluster on this machine with two workers."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with tasks.quiet(), distributed.LocalCluster(processes=processes, **options) as found:
        yield found.scheduler_address


def policies():
    return {
        "threshold": logs.threshold,
        "soft": logs.soft,
        "learner": logs.Learner(),
        "fast": db.Bandit(reward="click", half_life=20, features="item"),
        "own speed": db.Bandit(reward="click", features="item"),
    }


def same(here, there):
    """Everything that a replay tells, without a tolerance."""
    assert [*there.walks] == [*here.walks]
    assert [w.memory for w in there.walks.values()] == [w.memory for w in here.walks.values()]
    assert [[e.to_dict() for e in w.events] for w in there.walks.values()] == [
        [e.to_dict() for e in w.events] for w in here.walks.values()
    ]
    assert there.refused == here.refused
    np.testing.assert_array_equal(there._all, here._all)
    np.testing.assert_equal(there.rows(), here.rows())
    assert there.logged == here.logged
    assert repr(there) == repr(here)


@pytest.mark.parametrize("options", [{}, {"interval": "always_valid", "history": "own", "estimators": ("snips", "dr")}])
def test_shares_are_one_pass(monkeypatch, options):
    log = logs.log(150, 0, uniform=True)
    here = replay(policies(), log, **options)
    for shares in (1, 2, 3, 9)[sized(2, 0) :]:
        monkeypatch.setattr(tasks.OnDask, "workers", lambda self, shares=shares: shares)
        same(here, replay(policies(), log, scheduler="synchronous", **options))


def test_a_cluster_of_threads(tmp_path):
    frame = logs.frame(120, 1)
    frame.to_csv(tmp_path / "log.csv", index=False)
    log = db.Log.read(tmp_path / "log.csv", item="item", reward="r", propensity="p", time="at", context=["x"])
    make = functools.partial(
        db.tune, db.Bandit, log, over={"half_life": [5, 50, None]}, reward="click", features="item"
    )
    with cluster(processes=False) as address:
        same(replay(policies(), log), replay(policies(), log, scheduler=address))
        here, there = make(), make(scheduler=address)
    assert (there.best, there.honest, there.naive) == (here.best, here.honest, here.naive)
    same(here.replay, there.replay)


def test_a_durable_bandit_and_its_log_are_sent(tmp_path):
    with db.Bandit.open(tmp_path / "shop.bandit", reward="click", features="item", seed=1) as live:
        for t in range(100):
            live.reward(live.decide(["a", "b"]).id, t % 2)
        log = db.Log.read(tmp_path / "shop.bandit")
        given = {"live": live, "always a": lambda items, context, at: "a"}
        same(replay(given, log), replay(given, log, scheduler="threads"))


@pytest.mark.slow
def test_processes(tmp_path):
    frame = logs.frame(200, 2)
    frame.to_parquet(tmp_path / "log.parquet")
    log = db.Log.read(tmp_path / "log.parquet", item="item", reward="r", propensity="p", time="at", context=["x"])
    given = {
        "self_tuning": db.zoo.self_tuning(reward="click"),
        "always a": lambda items, context, at: "a",
        **policies(),
    }
    find = functools.partial(answer, log, half_lives=["1d", 30], estimator="snips")
    here, half_lives = replay(given, log), find()
    with cluster(processes=True) as address:
        for scheduler in ("processes", address):
            same(here, replay(given, log, scheduler=scheduler))
        found = find(scheduler=address)
    assert (found.verdict, found.best, found.gain) == (half_lives.verdict, half_lives.best, half_lives.gain)


def test_what_goes_wrong_is_one_line(monkeypatch):
    log, given = logs.log(60, 0), {"b": logs.threshold}
    monkeypatch.setattr(tasks, "TIMEOUT", 0.3)
    for scheduler, says in (
        ("bogus", "it must be 'threads', 'processes'"),
        (3, "it must be 'threads', 'processes'"),
        ("tcp://127.0.0.1:1", "does not answer"),
        ("bogus://there", "does not answer"),
        ("tcp://", "does not answer"),
    ):
        for call in (replay, functools.partial(db.tune, lambda half_life: logs.threshold, over={"half_life": [1]})):
            arguments = (given, log) if call is replay else (log,)
            with pytest.raises(db.DriftBanditsError, match=says) as problem:
                call(*arguments, scheduler=scheduler)
            assert "\n" not in str(problem.value)
    with pytest.raises(db.DriftBanditsError, match=r"^row 0 of .*: policy 'b' .*'z'"):
        replay({"a": logs.soft, "b": lambda items, context, at: "z"}, log, scheduler="threads")


def test_a_cluster_without_workers_is_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(tasks, "TIMEOUT", 1)
    with (
        tasks.quiet(),
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty,
        pytest.raises(db.DriftBanditsError, match="has no workers"),
    ):
        replay({"b": logs.threshold}, logs.log(60, 0), scheduler=empty.scheduler_address)
