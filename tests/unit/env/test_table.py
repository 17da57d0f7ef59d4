"""Worlds made of tables: what is played is what was written down, and what does not fit is refused in one line."""

import datetime

import numpy as np
import pytest

import driftbandits as db

T, N, D = 60, 4, 3
OFUL = db.zoo.oful(lam=1, S=1, L=5, R=1, delta=0.01)


def tables(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, N, D)) / 2
    return X, X @ np.array([0.5, -0.5, 0.2]) + 0.1 * rng.standard_normal((T, N))


def test_regret_is_against_the_best_item_of_each_round_and_reward_stands_beside_it():
    X, R = tables()
    run = db.simulate(OFUL, db.env.from_rewards(X, R), seed=1, checkpoints="all")
    earned = R[np.arange(T), run.choices]
    np.testing.assert_allclose(run.reward, np.cumsum(earned), rtol=1e-12)
    np.testing.assert_allclose(run.regret, np.cumsum(R.max(axis=1) - earned), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.reward_per_round, np.cumsum(earned) / np.arange(1, T + 1), rtol=1e-12)


def test_regret_is_counted_in_the_means_where_they_are_known():
    X, R = tables()
    means = X @ np.array([0.5, -0.5, 0.2])
    run = db.simulate(OFUL, db.env.from_rewards(X, R, expected=means), seed=1, checkpoints="all")
    earned = means[np.arange(T), run.choices]
    np.testing.assert_allclose(run.regret[-1], (means.max(axis=1) - earned).sum(), rtol=1e-12)


def test_an_array_a_function_and_a_file_are_the_same_world(tmp_path):
    X, R = tables()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "R.npy", R)
    worlds = [
        db.env.from_rewards(X, R),
        db.env.from_rewards(lambda t: X[t], R),
        db.env.from_rewards(str(tmp_path / "X.npy"), tmp_path / "R.npy"),
    ]
    runs = [db.simulate(OFUL, world, seed=2, checkpoints="all") for world in worlds]
    assert all((run.choices == runs[0].choices).all() for run in runs)
    assert len(set(runs[0].choices.tolist())) > 1


@pytest.mark.interpreted
def test_one_context_for_items_with_a_model_each():
    rng = np.random.default_rng(0)
    contexts = rng.standard_normal((T, 2))
    R = np.stack([contexts[:, 0], contexts[:, 1]], axis=1)
    strategy = db.zoo.self_tuning(features="disjoint")
    one = db.simulate(strategy, db.env.from_rewards(contexts, R), checkpoints="all")
    two = db.simulate(strategy, db.env.from_rewards(lambda t: contexts[t], R), checkpoints="all")
    assert (one.choices == two.choices).all()
    with pytest.raises(db.DriftBanditsError, match="no model per item"):
        db.simulate(OFUL, db.env.from_rewards(contexts, R))


def test_the_first_rounds_are_those_of_the_whole_world():
    X, R = tables()
    whole = db.simulate(OFUL, db.env.from_rewards(X, R), seed=3, checkpoints="all")
    part = db.simulate(OFUL, db.env.from_rewards(X, R, horizon=20), seed=3, checkpoints="all")
    assert (part.choices == whole.choices[:20]).all()
    assert db.env.from_rewards(X, R, horizon=10 * T).horizon == T


def test_trials_take_a_world():
    world = db.env.from_rewards(*tables())
    runs = db.trials(OFUL, world, trials=3, seed=1)
    again = db.trials(OFUL, lambda i: world, trials=3, seed=1)
    assert [r.regret[-1] for r in runs] == [r.regret[-1] for r in again]


def test_times_of_the_checkpoints():
    X, R = tables()
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    moments = [start + datetime.timedelta(hours=t) for t in range(T)]
    plain = np.array([m.replace(tzinfo=None) for m in moments], "datetime64[s]")
    seconds = start.timestamp() + 3600.0 * np.arange(T)
    for given in (moments, plain, seconds):
        run = db.simulate(OFUL, db.env.from_rewards(X, R, times=given), checkpoints=[10, T])
        assert run.times.tolist() == [seconds[9], seconds[T - 1]]
    assert db.simulate(OFUL, db.env.from_rewards(X, R), checkpoints=1).times is None


def nan_at(array, *place):
    changed = array.copy()
    changed[place] = np.nan
    return changed


X0, R0 = tables()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"R": R0[:, 0]}, r"R has shape \(60,\)"),
        ({"R": nan_at(R0, 5, 2)}, r"R\[5, 2\] is nan"),
        ({"X": X0[:-1]}, r"X has shape \(59, 4, 3\); with 60 rounds of 4 rewards"),
        ({"X": X0[:, :2]}, r"X has shape \(60, 2, 3\)"),
        ({"X": nan_at(X0, 50, 0, 0)}, "X contains NaN"),
        ({"X": lambda t: X0[t, :2]}, r"X\(0\) has shape \(2, 3\)"),
        ({"X": [["a"]]}, "X holds strings"),
        ({"X": "nowhere.npy"}, "X = 'nowhere.npy' is not a file"),
        ({"expected": R0[:5]}, r"expected has shape \(5, 4\)"),
        ({"times": np.arange(5)}, r"times has shape \(5,\)"),
        ({"times": np.arange(T)[::-1]}, r"times\[1\] is missing, or before times\[0\]"),
        ({"times": ["a"] * T}, "times holds"),
        ({"horizon": 0}, "horizon = 0 is not allowed"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given, says):
    with pytest.raises(db.DriftBanditsError, match=says) as problem:
        db.env.from_rewards(**({"X": X0, "R": R0} | given))
    assert "\n" not in str(problem.value)


def test_a_function_that_changes_its_shape_is_refused():
    world = db.env.from_rewards(lambda t: X0[t] if t < 7 else X0[t, :, :2], R0)
    with pytest.raises(db.DriftBanditsError, match=r"gave shape \(4, 2\) in round 7"):
        db.simulate(OFUL, world)


def test_a_file_that_is_no_array_is_refused(tmp_path):
    (tmp_path / "X.npy").write_text("1,2,3")
    with pytest.raises(db.DriftBanditsError, match="is not an array"):
        db.env.from_rewards(tmp_path / "X.npy", R0)


def test_a_table_outside_what_the_strategy_assumes_is_refused():
    clicks = db.zoo.scb_weight_ucb(gamma=0.99, lam=10, S=1, L=1, delta=0.01)
    world = db.env.from_rewards(X0 / 10, R0)
    with pytest.raises(db.DriftBanditsError, match="rewards are in"):
        db.simulate(clicks, world)
    with pytest.raises(db.DriftBanditsError, match=r"norm .* > L = 0.01"):
        db.simulate(db.zoo.oful(lam=1, S=1, L=0.01, R=1, delta=0.01), world)
