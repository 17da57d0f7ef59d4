"""What many rows wait for before they are walked."""

import driftbandits as db
import logs
from driftbandits.bandit import detector
from driftbandits.bandit.bulk import machine as bulk
from driftbandits.replay import bandit_rows


def test_many_rows_wait_for_all_code_that_they_go_through(monkeypatch):
    """Of 20,000 rows, a change detector that is not compiled takes 15 s, and walks that are not compiled minutes."""
    asked = []

    def prepared(entry, args, how, install):
        asked.append((entry.__name__, how))
        return lambda *args: 0

    for module in (bulk, detector):
        monkeypatch.setattr(module, "prepared", prepared)
        monkeypatch.setattr(module, "interpreted", lambda: False)
        monkeypatch.setattr(module, "compile_mode", lambda mode: mode)
    only = detector.Machine()
    monkeypatch.setattr(detector, "machine", lambda: only)
    walks = bulk.Machine()
    assert walks.longest("observe", bulk.WORTH_IT - 1) == bulk.SHORT
    walks.longest("decide", bulk.WORTH_IT)
    assert asked == [("walk", "background"), ("observe_rows", "background"), ("decide_rows", "now")]
    walks.longest("observe", bulk.WORTH_IT)
    assert asked[3:] == [("observe_rows", "now"), ("walk", "now")]


def test_a_replay_counts_the_rows_of_its_log(monkeypatch):
    heard, real = [], bandit_rows.machine()

    class Heard:
        replay = property(lambda self: real.replay)

        def longest(self, name, rows):
            heard.append((name, rows))
            return real.longest(name, rows if rows < 1000 else 1)

    monkeypatch.setattr(bandit_rows, "machine", Heard)
    db.replay({"b": db.Bandit(reward="click", features="item")}, logs.log(600, 0), estimators=("ips",))
    assert {*heard} == {("replay", 600)}
