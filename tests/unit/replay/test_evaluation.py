"""The walk through a log gives the numbers of the equations; rewards come when they came; what cannot be done is refused."""

import numpy as np
import pandas as pd
import pytest
from naive import ope

import driftbandits as db
import logs
from driftbandits.errors import InvalidState, InvalidValue
from driftbandits.replay.forecast import Forecast
from driftbandits.zoo.record import records


def arrays(log):
    rows = [*log]
    r, p = np.array([row.reward for row in rows]), np.array([row.propensity for row in rows])
    return rows, r, p, np.array([logs.ITEMS.index(row.item) for row in rows])


def test_fixed_policies_have_the_values_of_the_equations():
    log = logs.log(500, 0)
    rows, r, p, chosen = arrays(log)
    pi_all = np.array([[0.2, 0.3, 0.5]] * 500)
    pi = pi_all[np.arange(500), chosen]
    forecast, model = np.zeros((500, 3)), Forecast()
    for t, row in enumerate(rows):
        ahead = model.ahead(t, row)
        forecast[t] = [ahead[item] for item in logs.ITEMS]
        model.learn(t, row)
    result = db.replay({"soft": logs.soft}, log)
    assert result.estimate("soft", "ips").value == pytest.approx(ope.ips(r, p, pi))
    assert result.estimate("soft", "snips").value == pytest.approx(ope.snips(r, p, pi))
    assert result.estimate("soft", "dr").value == pytest.approx(ope.dr(r, p, pi, pi_all, forecast, chosen))
    assert result.estimate("soft", "snips").effective_n == pytest.approx(ope.effective_n(pi / p))


def test_replay_on_a_uniform_log_is_the_mean_where_it_agrees():
    log = logs.log(600, 0, uniform=True)
    result = db.replay({"t": logs.threshold}, log, estimators="replay")
    rows = [*log]
    agrees = np.array([logs.threshold(row.items, row.context, row.at) == row.item for row in rows])
    assert result.estimate("t").value == pytest.approx(ope.replay(np.array([row.reward for row in rows]), agrees))
    assert result.estimate("t").effective_n == agrees.sum()


class Clocked:
    """Notes when it decided and when it heard."""

    def __init__(self, seen):
        self.seen = seen

    def __deepcopy__(self, memo):
        return self  # for the test: one object, which remembers

    def decide(self, items, context, at):
        self.seen.append(("decide", at))
        return "a"

    def reward(self, item, reward, at):
        self.seen.append((item, at))


def test_rewards_reach_policies_when_they_came():
    frame = pd.DataFrame({"item": ["a", "b"] * 40, "r": 1.0, "at": np.arange(80.0), "late": np.arange(80.0)})
    frame.loc[3, "late"], frame.loc[4, "late"] = 6.5, 5.0
    log = db.Log.read(frame, item="item", reward="r", time="at", reward_time="late")
    seen: list = []
    db.replay({"c": Clocked(seen)}, log, estimators="ips")
    expected = []
    for t in range(80):
        due = {5: [("a", 5.0)], 7: [("b", 6.5)]}.get(t, [])
        expected += [*due, ("decide", float(t))]
        expected += [] if t in (3, 4) else [("ab"[t % 2], float(t))]
    assert seen == expected
    at_once: list = []
    db.replay({"c": Clocked(at_once)}, log, estimators="ips", delay=None)
    assert [what for what, _ in at_once[:12]] == ["decide", "a", "decide", "b"] * 3


def test_without_times_of_rewards_they_came_at_once_and_progress_is_told():
    seen: list = []
    done: list = []
    frame = pd.DataFrame({"item": ["a", "b"] * 150, "r": 1.0})
    log = db.Log.read(frame, item="item", reward="r")
    progress = lambda rows, total: done.append((rows, total))  # noqa: E731
    db.replay({"c": Clocked(seen)}, log, estimators="ips", delay="observed", progress=progress)
    assert [what for what, _ in seen[:12]] == ["decide", "a", "decide", "b"] * 3
    assert done == [(rows, 300) for rows in range(1, 301)]


def test_policies_with_their_own_history_hear_only_where_they_agree():
    class Counting(logs.Learner):
        heard = 0

        def reward(self, item, reward):
            type(self).heard += 1

    log = logs.log(300, 0, uniform=True)
    db.replay({"c": Counting()}, log, estimators=("snips",))
    assert Counting.heard == 300
    Counting.heard = 0
    result = db.replay({"c": Counting()}, log, estimators=("snips", "replay"), history="own")
    assert Counting.heard == result.estimate("c", "replay").effective_n < 200


def test_a_log_that_is_not_uniform_needs_propensities():
    frame = logs.frame(600, 0)
    log = db.Log.read(frame, item="item", reward="r", time="at", context=["x"])
    with pytest.raises(
        InvalidValue, match="has no propensities, and its choices are not uniform: item 'a' was chosen"
    ) as it:
        db.replay({"t": logs.threshold}, log)
    assert "\n" not in str(it.value)


def test_what_the_log_never_shows_is_refused_and_the_rest_is_estimated():
    frame = logs.frame(600, 0, uniform=True)
    log = db.Log.read(frame, item="item", reward="r", offered=["a", "b", "c", "z"], propensity="p")
    never = {"never": lambda items, context, at: "z"}
    with pytest.raises(
        InvalidValue, match="policy 'never' cannot be estimated by ips: the log's overlap with it is too small"
    ):
        db.replay(never, log, estimators=("ips", "snips"))
    both = db.replay({**never, "t": lambda items, context, at: "a"}, log, estimators=("snips",))
    assert set(both.refused) == {("never", "snips")}
    table = both.to_pandas().set_index(["policy", "window"])
    assert np.isnan(table.loc[("never", "all"), "value"])
    assert 0.2 < table.loc[("t", "all"), "value"] < 0.5
    assert table.loc["never", "value"].isna().all()


def test_replay_is_refused_where_it_would_keep_too_little():
    frame = logs.frame(600, 0)
    frame.loc[0, "p"] = 0.01
    log = db.Log.read(frame, item="item", reward="r", propensity="p", context=["x"])
    result = db.replay({"soft": logs.soft}, log, estimators=("replay", "snips"))
    assert "replay would keep about 6 of 600 rows" in result.refused["replay"]
    with pytest.raises(InvalidValue, match=r"smallest propensity is 0\.01"):
        db.replay({"soft": logs.soft}, log, estimators=("replay",))


def test_errors_of_a_policy_name_the_row():
    log = db.Log.read(logs.frame(50, 0).assign(r=0.5), item="item", reward="r", propensity="p")
    with pytest.raises(InvalidValue, match=r"row 0 of the frame: reward = 0\.5 is not allowed"):
        db.replay({"b": db.Bandit(reward="click")}, log)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"policies": {}}, "dict from names to policies"),
        ({"estimators": ("magic",)}, "estimator 'magic' is not known"),
        ({"estimators": ()}, "is not known"),
        ({"history": "mine"}, "must be 'log' or 'own'"),
        ({"delay": "long"}, "must be 'observed' or None"),
        ({"rolling": 0}, "rolling = 0"),
        ({"log": 3}, "must come from db.Log.read"),
    ],
)
def test_wrong_arguments_are_refused(options, problem):
    given = {"policies": {"t": logs.threshold}, "log": logs.log(50, 0), **options}
    with pytest.raises(InvalidValue, match=problem):
        db.replay(given.pop("policies"), given.pop("log"), **given)


@pytest.mark.interpreted
def test_where_a_policy_must_choose_itself_replay_is_left():
    rng = np.random.default_rng(0)
    log = db.Log.read(
        pd.DataFrame({"item": rng.choice(["a", "b", "c"], 150), "r": rng.random(150)}), item="item", reward="r"
    )
    bob = next(record for record in records() if record.name == "bob").build()
    result = db.replay({"bob": bob, "a": lambda items, context, at: "a"}, log, estimators=("replay", "snips"))
    assert "learns from its own choices only" in result.refused["bob", "snips"]
    assert np.isnan(result.estimate("bob", "snips").value)
    assert 0.0 < result.estimate("bob", "replay").value < 1.0
    with pytest.raises(InvalidState, match="learns from its own choices only"):
        db.replay({"bob": bob}, log, estimators=("snips",))


def test_replay_counts_rows_alike_however_many_were_on_offer():
    """A uniform log with offers of two and of four; rows of two would count twice as often without the coin."""
    rng = np.random.default_rng(0)
    offers = [["a", "b"] if t % 2 else ["a", "b", "c", "d"] for t in range(4000)]
    items = [offer[rng.integers(len(offer))] for offer in offers]
    frame = pd.DataFrame({"item": items, "r": [float(len(o) == 2) for o in offers], "offer": offers})
    log = db.Log.read(frame, item="item", reward="r", offered="offer")
    result = db.replay({"a": lambda items, context, at: "a"}, log, estimators=("replay", "ips"))
    for estimator in ("replay", "ips"):
        e = result.estimate("a", estimator)
        assert e.low < 0.5 < e.high
        assert e.high - e.low < 0.1


def test_always_valid_intervals_are_wider_and_name_their_kind():
    log = logs.log(500, 0)
    policies = {"t": logs.threshold, "soft": logs.soft}
    once = db.replay(policies, log, estimators=("snips", "ips"))
    always = db.replay(policies, log, estimators=("snips", "ips"), interval="always_valid")
    for name in policies:
        a, b = once.estimate(name, "snips"), always.estimate(name, "snips")
        assert a.value == b.value
        assert 0.0 <= b.low < a.low < a.high < b.high <= 1.0
    assert always.logged.low < once.logged.low < once.logged.high < always.logged.high
    assert "95 % intervals that hold at all times (finite-sample)" in repr(always)
    frame = logs.frame(500, 0)
    money = db.Log.read(frame.assign(r=5.0 * frame["r"] - 1.0), item="item", reward="r", propensity="p", context=["x"])
    rough = db.replay(policies, money, estimators=("snips",), interval="always_valid")
    e = rough.estimate("soft")
    assert e.low < e.value < e.high
    assert "(asymptotic)" in repr(rough)


@pytest.mark.parametrize("estimator", [pytest.param("dr", marks=pytest.mark.slow), "replay", "snips"])
def test_always_valid_bounds_hold_on_logs_whose_truth_is_known(estimator):
    missed = 0
    for seed in range(12):
        log = logs.log(150, seed, uniform=estimator == "replay")
        found = db.replay({"soft": logs.soft}, log, estimators=(estimator,), interval="always_valid").estimate("soft")
        missed += not found.low <= logs.value(logs.soft, 20_000) <= found.high
    assert missed <= 3  # of 12, each at most 0.05: more than 3 with probability 0.002


def test_an_interval_that_is_not_known_is_refused():
    with pytest.raises(InvalidValue, match="interval = 'wide' is not allowed"):
        db.replay({"t": logs.threshold}, logs.log(50, 0), interval="wide")


def test_a_log_that_never_could_have_chosen_otherwise_is_refused_by_replay_too():
    """The young are shown A, the old B: "always A" agrees with the young alone, who click more whatever is shown."""
    rng = np.random.default_rng(0)
    young = rng.random(600) < 0.5
    click = rng.random(600) < np.where(young, 0.5, 0.1)
    frame = pd.DataFrame({"item": np.where(young, "A", "B"), "r": click * 1.0, "p": 1.0, "age": young * 1.0})
    log = db.Log.read(frame, item="item", reward="r", propensity="p", context=["age"])
    with pytest.raises(InvalidValue, match=r"weights average|replay keeps 0.4.* of the rows and must keep 1"):
        db.replay({"always A": lambda items, context, at: "A"}, log, interval="always_valid")
    with pytest.raises(InvalidValue, match=r"replay keeps 0.4.* of the rows and must keep 1 ± 0"):
        db.replay({"always A": lambda items, context, at: "A"}, log, estimators=["replay"])
