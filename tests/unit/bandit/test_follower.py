"""One learner, many deciders: whichever process made a decision, its reward counts once."""

import contextlib
import subprocess
import sys
import time

import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.pending import AlreadyRewarded
from driftbandits.bandit.saving import digest
from driftbandits.errors import InvalidState

pytestmark = pytest.mark.xdist_group("bandit")


def offer(t):
    return {name: {"x": float((t + k) % 5)} for k, name in enumerate("abc")}


def test_followers_decide_and_their_rewards_count_once(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, seed=0) as learner:
        for t in range(20):
            learner.reward(learner.decide(offer(t)).id, 1.0)
        learner._snapshot()
        with db.Bandit.follow(path, refresh=1e-3) as one, db.Bandit.follow(path) as two:
            theirs = one.decide(offer(1))
            two.reward(theirs.id, 1.0)  # whichever process made the decision
            for late in (one, two, learner):
                with pytest.raises(db.DriftBanditsError, match="has had its reward"):
                    late.reward(theirs.id, 1.0)
            mine = learner.decide(offer(2))
            one.reward(mine.id, 0.0)
            with pytest.raises(db.DriftBanditsError, match="has had its reward"):
                learner.reward(mine.id, 0.0)
            other = two.decide(offer(3), k=2)
            assert learner.absorb() == 1
            learner.reward(other.id, {other.items[1]: 2.0})
            batch = pd.DataFrame({"id": [one.decide(offer(4)).id, two.decide(offer(5)).id], "reward": [0.5, 1.5]})
            assert one.reward_batch(batch) == 2
            with pytest.raises(db.DriftBanditsError, match="no decision"):
                one.reward("nope", 1.0)
            with pytest.raises(db.DriftBanditsError, match="cannot drop"):
                one.drop("a")
            assert sum(theirs.propensities.values()) == pytest.approx(1.0)
        info = learner.info()
        assert (info["decisions"], info["rewards"], info["pending"]) == (25, 25, 0)
        expected = digest(learner)
    with db.Bandit.open(path) as again:
        assert digest(again) == expected


def test_a_follower_learns_of_new_snapshots(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, seed=0) as learner, db.Bandit.follow(path, refresh=1e-6) as follower:
        for _ in range(60):
            d = learner.decide(["a", "b"])
            learner.reward(d.id, float(d.item == "b"))
        learner._snapshot()
        time.sleep(0.001)
        d = follower.decide(["a", "b"])
        assert d.propensities["b"] > 0.9


def test_a_thread_reads_new_snapshots_while_calls_go_on(tmp_path, monkeypatch):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, seed=0) as learner, db.Bandit.follow(path, refresh=1e-6) as follower:
        learner.decide(offer(0))
        learner._snapshot()
        free, read = [], follower._read
        monkeypatch.setattr(
            follower, "_read", lambda data: free.append(not follower._lock._lock._is_owned()) or read(data)
        )
        follower.renew_aside()
        assert free == [True]
        assert (follower._seq, follower._tick) == (1, 1)
        learner.decide(offer(1))
        learner._snapshot()
        follower._cost = 0.0  # else it would not look for twenty times as long as the last one took
        monkeypatch.setattr(follower, "_read", lambda _: (_ for _ in ()).throw(db.errors.CannotRead("damaged")))
        follower.renew_aside()
        assert follower._seq == 1  # and the next call looks for itself
        monkeypatch.undo()
        follower.decide(offer(2))
        assert follower._seq == 2


CHILD = """
import sys
import driftbandits as db

learned = 0
with db.Bandit.follow(sys.argv[1], refresh=0.05) as bandit:
    mine = [bandit.decide({"a": {"x": float(t % 5)}, "b": {"x": 1.0}}).id for t in range(40)]
    for id_ in [*mine, *mine, *sys.argv[2:]]:
        try:
            bandit.reward(id_, 1.0)
            learned += 1
        except db.DriftBanditsError as problem:
            assert "has had its reward" in str(problem)
print(learned)
"""


@pytest.mark.slow
def test_processes_at_once_count_each_reward_once(tmp_path):
    """Three followers and the learner write at the same time; all four bring the rewards of the learner's own decisions."""
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, seed=0) as learner:
        own = [learner.decide(offer(t)).id for t in range(20)]
        command = [sys.executable, "-c", CHILD, str(path), *own]
        children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        learned = 0
        for id_ in own:
            with contextlib.suppress(AlreadyRewarded):  # a follower was faster
                learner.reward(id_, 1.0)
                learned += 1
            time.sleep(0.01)
        learned += sum(int(child.communicate()[0]) for child in children)
        info = learner.info()
        assert learned == 20 + 3 * 40
        assert (info["decisions"], info["rewards"], info["pending"]) == (140, 140, 0)
        expected = digest(learner)
    with db.Bandit.open(path) as again:
        assert digest(again) == expected


def test_a_follower_has_the_challengers_of_its_learner(tmp_path):
    path = tmp_path / "log.db"
    with db.Bandit.open(path, explore=0.3, seed=0) as bandit:
        bandit.challenge("short", half_life=20, explore=0.9)
        bandit.challenge("rule", lambda items, context: {"b": 1.0})
        for t in range(100):
            bandit.reward(bandit.decide(["a", "b"]).id, 0.5 + 0.1 * (t % 3))
        bandit.take_snapshot()
        with db.Bandit.follow(path, refresh=1e-6) as follower:
            for call in (follower.challenge, follower.promote, follower.drop_challenger):
                with pytest.raises(InvalidState, match="a follower has no challengers of its own"):
                    call("new" if call == follower.challenge else "short")
            assert [*follower.info()["challengers"]] == ["short", "rule"]
            assert "explore=0.3" in repr(follower)
            assert follower.decide(["a", "b"]).propensity > 0.0
            assert not follower._challengers["short"].shadow._pending.open  # nobody asks for it here
            told = follower.health().actions  # the function runs where the learner is
            assert not [action for action in told if "has not run" in action]
            assert follower.value("rule") == bandit.value("rule")

            bandit.promote("short")
            bandit.challenge("later", half_life=5)
            bandit.decide(["a", "b"])
            bandit.take_snapshot()
            follower.decide(["a", "b"])
            assert [*follower.info()["challengers"]] == ["later", "rule"]
            assert "half_life=20.0, explore=0.9" in repr(follower)
            follower.set_explore(0.5)
            bandit.decide(["a", "b"])
            bandit.take_snapshot()
            assert min(follower.decide(["a", "b"]).propensities.values()) >= 0.25
