"""A snapshot that is written out while other calls go on is one of the state when it began, or none."""

import json
import threading

import pytest

import driftbandits as db
from driftbandits.bandit import pending_files, snapshots
from driftbandits.bandit.durable import Durable, newest_state
from driftbandits.bandit.saving import digest, from_bytes

pytestmark = pytest.mark.xdist_group("bandit")
ITEMS = {"a": {"price": 1.0}, "b": {"price": 2.0}}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A tended bandit for which a snapshot is due, and decisions are packed two at a time."""
    monkeypatch.setattr(pending_files, "PART", 2)
    monkeypatch.setattr(snapshots, "PAUSE", 0.0)
    with db.Bandit.open(tmp_path / "shop.bandit", reward="click", seed=0) as bandit:
        bandit.tended, bandit.snapshot_seconds, bandit.snapshot_share = True, 0.0, 0.0
        played(bandit, 10)
        yield bandit


def played(bandit, many):
    """Decisions, of which each third has its reward."""
    for t in range(many):
        d = bandit.decide(ITEMS, {"age": float(t)})
        if t % 3 == 0:
            bandit.reward(d, t % 2)


def meanwhile(monkeypatch, action):
    """Let something happen in another thread while a snapshot is written out; returns what was raised there."""
    raised = []

    def guarded():
        try:
            action()
        except Exception as problem:
            raised.append(problem)

    def pause():
        if not raised_by:
            thread = threading.Thread(target=guarded)
            raised_by.append(thread)
            thread.start()
            thread.join(30.0)
            assert not thread.is_alive()  # it did not have to wait for the snapshot

    raised_by = []
    monkeypatch.setattr(snapshots, "_let_others", pause)
    return raised


def kept(bandit):
    """The number of the newest snapshot, and the digest of its state."""
    return bandit.store.state(lambda data: digest(from_bytes(data, "kept", kind=Durable)))


def test_no_call_of_a_tended_bandit_takes_one(shop):
    before = shop.store.newest()
    played(shop, 5)
    shop.absorb()
    assert shop.store.newest() == before
    assert shop.snapshot_is_due()
    shop.take_snapshot_aside()
    assert shop.store.newest() == shop.store.last()
    assert not shop.snapshot_is_due()
    shop.take_snapshot_aside()  # nothing to do


def test_it_is_one_of_the_moment_when_it_began(shop, monkeypatch):
    seq, state = shop.store.last(), digest(shop)
    raised = meanwhile(monkeypatch, lambda: played(shop, 7))
    shop.take_snapshot_aside()
    assert not raised
    assert shop.store.last() > seq
    assert kept(shop) == (seq, state)
    assert shop.snapshot_is_due()  # rows have come since
    assert digest(reopened(shop)) == digest(shop)


def reopened(bandit):
    """What a process finds that opens the same file after this one was killed."""
    seq, found = newest_state(bandit.store, {})
    found.attach(bandit.store, {}, seq)
    with bandit.store.transaction():
        while found._absorb():
            pass
    return found


def test_a_later_one_is_not_replaced(shop, monkeypatch):
    def later():
        played(shop, 3)
        shop.delete_log()  # takes a snapshot, and deletes the rows that an older one would need

    raised = meanwhile(monkeypatch, later)
    shop.take_snapshot_aside()
    assert not raised
    assert kept(shop) == (shop.store.last(), digest(shop))
    assert digest(reopened(shop)) == digest(shop)


def test_one_of_the_same_row_is_not_replaced(shop, monkeypatch):
    """A promotion changes the state without a row."""
    shop.challenge("wary", explore=0.3)
    played(shop, 6)
    raised = meanwhile(monkeypatch, lambda: shop.promote("wary"))
    shop.take_snapshot_aside()
    assert not raised
    assert shop._config["explore"] == 0.3
    assert kept(shop) == (shop.store.last(), digest(shop))


def test_a_bandit_that_is_closed_meanwhile_has_its_own(shop, monkeypatch):
    raised = meanwhile(monkeypatch, shop.close)
    shop.take_snapshot_aside()
    assert not raised
    shop.take_snapshot_aside()  # closed: nothing to do


def test_one_that_cannot_be_written_is_tried_again_later(shop, monkeypatch):
    before = shop.store.newest()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shop.store, "snapshot", full)
        with pytest.raises(OSError, match="No space"):
            shop.take_snapshot_aside()
    assert shop.store.newest() == before
    assert shop.snapshot_is_due()
    shop.take_snapshot_aside()
    assert kept(shop) == (shop.store.last(), digest(shop))


def test_a_follower_knows_how_many_wait_and_reads_none(shop, tmp_path, monkeypatch):
    shop.take_snapshot_aside()
    monkeypatch.setattr(pending_files.json, "loads", refuse_rows)
    with db.Bandit.follow(tmp_path / "shop.bandit") as follower:
        assert follower.info()["pending"] == shop.info()["pending"] > 0
        assert not follower._pending.open


loads = json.loads


def refuse_rows(text, *more, **how):
    """Whatever is JSON, but not the rows of waiting decisions."""
    found = loads(text, *more, **how)
    assert not (isinstance(found, dict) and "closed" in found)
    return found
