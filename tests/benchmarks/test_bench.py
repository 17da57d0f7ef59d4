"""The benchmark itself: streams are the same for all, delays are what they say, and what got worse is told."""

import csv
import importlib.util
import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from bench import answer, cells, play, quick, report, shares, streams, worker
from bench.peers import OURS, PEERS, module


class First:
    """Takes what is first, and writes down what it hears."""

    def __init__(self):
        self.heard = []

    def decide(self, offer):
        return 0

    def learn(self, offer, k, reward, age):
        self.heard.append((len(self.heard), k, reward, age))


def small(delay=0):
    rng = np.random.default_rng(0)
    R = rng.random((40, 3))
    return streams.Stream("small", rng.random((40, 3, 2)), R, R, clicks=False, delay=delay)


@pytest.mark.parametrize("name", ["standing still, d = 5", "clicks 5 %", "1000 items come and go", "LED with drift"])
def test_a_seed_is_a_stream(name):
    make = streams.catalogue(0.1)[name].make
    one, two, other = make(1), make(1), make(2)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.R, two.R)
    assert (one.R != other.R).any()
    assert one.X.shape[:-1] == (one.R.shape[:1] if one.items else one.R.shape)


def test_rewards_come_late_in_order_and_the_last_never():
    learner, stream = First(), small(delay=7)
    found = play.play(stream, learner)
    assert [r for _, _, r, _ in learner.heard] == stream.R[:33, 0].tolist()
    assert {age for *_, age in learner.heard} == {6}
    assert found["reward"] == pytest.approx(stream.E[:, 0].mean())


def test_a_learner_that_is_too_slow_is_stopped_and_told():
    assert play.play(small(), First(), limit=-1.0)["stopped"] == 1


def test_tuning_never_sees_a_round_that_counts():
    """Synthetic streams are tuned on other seeds, real ones on the stretch before."""
    source = streams.catalogue(0.05)["standing still, d = 5"]
    played = {cells.of_stream(source.make(seed)) for seed in range(source.seeds)}
    other = {cells.of_stream(stream) for stream in source.tuning(0)}
    assert len(other) == 4
    assert not played & other

    class Data:
        name, X, R = "rows", np.arange(1000.0)[:, None], np.arange(1000.0)[:, None]

        def __len__(self):
            return 1000

    real = streams.real(Data, streams.thirds, 200)
    for seed in range(3):
        made, (before,) = real.make(seed), real.tuning(seed)
        assert len(made.R) == 200
        assert before.R[-1, 0] == made.R[0, 0] - 1
        assert 50 <= len(before.R) <= 200


def test_the_setting_that_earns_most_elsewhere_is_played(tmp_path, monkeypatch):
    class Peer:
        PACKAGE, SETTINGS = "numpy", ({"k": 0}, {"k": 1})

        @staticmethod
        def refuses(stream):
            return ""

        @staticmethod
        def make(stream, seed, k):
            chosen = First()
            best = np.argmax if k else np.argmin
            rounds = iter(range(len(stream.E)))
            chosen.decide = lambda offer: int(best(stream.E[next(rounds)]))
            return chosen

    monkeypatch.setattr(cells, "module", lambda name: Peer)
    monkeypatch.setattr(worker, "module", lambda name: Peer)
    (seed,) = cells.seeds("still", streams.synthetic(streams.still(2, 30)), last=1)
    store = cells.Store(tmp_path, "numpy")
    assert cells.chosen("numpy", seed, store) is None
    worker.play_seed("numpy", seed, store, {"numpy"})
    assert cells.chosen("numpy", seed, store) == 1
    assert play.share(store.found(seed.rounds.key(1))) == pytest.approx(1.0)
    assert play.share(store.found(seed.rounds.key(0))) < 0.0


CELL = {"reward": 0.7, "random": 0.5, "best": 1.0, "micros": 12.0}


def kept_still(folder):
    """The seed 0 of a short stream, with one cell of it in the folder."""
    (seed,) = cells.seeds("still", streams.synthetic(streams.still(2, 30)), last=1)
    cells.Store(folder, "numpy").add(seed.rounds.key(0), CELL)
    assert cells.Store(folder, "numpy").found(seed.rounds.key(0)) == CELL
    return seed.rounds


def test_a_cell_of_a_changed_stream_is_not_taken_for_the_old_one(tmp_path):
    old = kept_still(tmp_path)
    store = cells.Store(tmp_path, "numpy")
    assert old.key(1) not in store  # another setting
    (other,) = cells.seeds("still", streams.synthetic(streams.still(2, 31)), last=1)  # a round more
    assert other.rounds.which == old.which
    assert other.rounds.key(0) not in store
    (_, later) = cells.seeds("still", streams.synthetic(streams.still(2, 30)), last=2)  # another seed
    assert later.rounds.key(0) not in store


@pytest.mark.parametrize("changed", ["version", "of_player"])
def test_a_cell_of_another_version_is_not_taken_for_the_old_one(tmp_path, monkeypatch, changed):
    old = kept_still(tmp_path)
    monkeypatch.setattr(cells, changed, lambda name: "another")
    store = cells.Store(tmp_path, "numpy")
    assert old.key(0) not in store
    assert old.key(0) in kept_by(tmp_path, monkeypatch)  # looking destroys nothing
    monkeypatch.setattr(cells, changed, lambda name: "another")
    store.add(old.key(0), {**CELL, "reward": 0.9})
    assert cells.Store(tmp_path, "numpy").found(old.key(0))["reward"] == 0.9
    assert old.key(0) not in kept_by(tmp_path, monkeypatch)  # the file is that of the new version


def kept_by(folder, monkeypatch):
    """What the versions of today find."""
    monkeypatch.undo()
    return cells.Store(folder, "numpy")


def test_half_a_line_that_a_killed_run_left_is_no_cell(tmp_path):
    rounds = kept_still(tmp_path)
    file = tmp_path / "numpy.csv"
    file.write_text(file.read_text() + "\nstill,1,0123")
    store = cells.Store(tmp_path, "numpy")
    assert rounds.key(0) in store
    store.add(rounds.key(1), CELL)
    again = cells.Store(tmp_path, "numpy")
    assert again.found(rounds.key(0)) == again.found(rounds.key(1)) == CELL


def test_kept_cells_are_of_streams_and_settings_that_exist():
    """The peers' cells in the repository are found by a run of today, or the page is not about what it says."""
    for file in cells.ROOT.glob("benchmarks/results/cells/*.csv"):
        head, columns, *rows = file.read_text().splitlines()
        told = json.loads(head.removeprefix("# "))
        assert told["learner"] == file.stem
        if file.stem in PEERS:
            assert told["player"] == cells.of_player(file.stem), (
                f"play.py or peers/{file.stem}_.py changed: play it again"
            )
        titles = {row[0] for row in csv.reader(rows)}
        assert titles <= set(streams.catalogue())
        assert columns.startswith("stream,which,rounds,setting,reward")


def test_a_stream_is_known_by_every_round():
    rng = np.random.default_rng(0)
    X, R = rng.random((40, 3, 2)), rng.random((40, 3))
    same = cells.of_stream(streams.Stream("a", X, R, R, clicks=False))
    assert cells.of_stream(streams.Stream("b", X.copy(), R.copy(), R, clicks=False)) == same
    other = R.copy()
    other[-1, -1] += 1e-9
    for changed in ({"R": other}, {"E": other}, {"delay": 1}, {"clicks": True}, {"names": np.full((40, 3), "x")}):
        told = {"name": "a", "X": X, "R": R, "E": R, "clicks": False, **changed}
        assert cells.of_stream(streams.Stream(**told)) != same


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    class Broken:
        PACKAGE = "numpy"
        SETTINGS = ({},)

        @staticmethod
        def refuses(stream):
            return "" if stream.name != "warm" else "nothing to warm"

        @staticmethod
        def make(stream, seed):
            raise OverflowError

    monkeypatch.setattr(cells, "module", lambda name: Broken)
    monkeypatch.setattr(worker, "module", lambda name: Broken)
    monkeypatch.setattr(streams, "catalogue", lambda scale: {"still": streams.synthetic(streams.still(2, 30))})
    assert worker.main(["numpy"], tmp_path, 1.0, last=2) == 2
    assert not (tmp_path / "numpy.csv").exists()


def test_every_learner_names_its_settings_without_its_package():
    for name in (*OURS, *PEERS):
        assert module(name).PACKAGE
        assert isinstance(module(name).SETTINGS[0], dict)


def test_linucb_in_numpy_is_the_weighted_ridge_regression():
    stream = small()
    learner = module("numpy").make(stream, 0, gamma=0.9, alpha=0.5)
    X, r = [], []
    for t in range(30):
        offer = stream.offer(t)
        k = learner.decide(offer)
        learner.learn(offer, k, stream.R[t, k], 0)
        X.append(np.append(1.0, offer.arms[k]))
        r.append(stream.R[t, k])
    w = 0.9 ** np.arange(29, -1, -1)
    V, b = np.eye(3) + (np.array(X).T * w) @ np.array(X), (np.array(X).T * w) @ r
    np.testing.assert_allclose(learner.A[0], V, rtol=1e-10)
    np.testing.assert_allclose(learner.b[0], b, rtol=1e-10)
    now = np.column_stack([np.ones(3), stream.X[30]])
    bound = now @ np.linalg.solve(V, b) + 0.5 * np.sqrt(np.einsum("ni,ij,nj->n", now, np.linalg.inv(V), now))
    assert learner.decide(stream.offer(30)) == bound.argmax()


def test_what_got_worse_by_more_than_a_fifth_is_told():
    before = {"a: CPU / NumPy's LinUCB": 2.0, "b: share of the best": 0.5, "c: CPU / NumPy's LinUCB": 1.0}
    fine = {"a: CPU / NumPy's LinUCB": 2.3, "b: share of the best": 0.41, "c: CPU / NumPy's LinUCB": 0.2}
    assert quick.compare(before, fine) == []
    bad = {"a: CPU / NumPy's LinUCB": 2.5, "b: share of the best": 0.39}
    assert [line.split(":")[0] for line in quick.compare(before, bad)] == ["a", "b", "c"]


def test_a_verdict_needs_more_than_one_standard_error():
    theirs = np.array([0.5, 0.6, 0.7])
    assert shares.verdict(theirs + np.array([0.1, 0.11, 0.12]), theirs).startswith("ahead")
    assert shares.verdict(theirs + np.array([0.1, -0.1, 0.0]), theirs).startswith("level")
    assert shares.verdict(theirs - np.array([0.1, 0.11, 0.12]), theirs).startswith("**behind**")


def of_one_stream(**rewards):
    """Results in which each learner earned so much in three seeds."""
    told = {name: {"seeds": [*range(len(row))], "default": row, "tuned": row} for name, row in rewards.items()}
    return {"streams": {"Elec2": told}}


def test_the_page_gives_a_reason_only_where_a_peer_wins():
    notes = [{"streams": ["Elec2"], "tested": False, "text": "Because it rains."}]
    lost = of_one_stream(bandit=[0.5, 0.6, 0.7], self_tuning=[0.9, 0.9, 0.9], river=[0.8, 0.8, 0.9])
    told = report.reasons(lost, notes)
    assert "**Elec2** (`Bandit` -0.233 to tuned river)" in told
    assert "`self_tuning`" not in told
    assert "Because it rains. *This reason was not tested apart.*" in told
    assert "the reason is not known yet" in report.reasons(lost, [])
    won = of_one_stream(bandit=[0.9, 0.9, 0.9], self_tuning=[0.9, 0.9, 0.9], river=[0.8, 0.8, 0.8])
    assert report.reasons(won, notes).startswith("Nowhere")


def test_the_first_screen_says_how_much_is_earned_and_where_a_peer_is_better():
    data = of_one_stream(
        bandit=[0.5, 0.6, 0.7], self_tuning=[0.9, 0.9, 0.9], river=[0.8, 0.8, 0.9], coba=[0.1, 0.1, 0.1]
    )
    data["streams"]["SEA"] = of_one_stream(
        bandit=[0.9, 0.9, 1.0], self_tuning=[0.9] * 3, river=[0.8] * 3, coba=[0.2] * 3
    )["streams"]["Elec2"]
    words = answer.first_words(data)
    assert "`Bandit` earns 0.767**" in words  # (.6 + .9333) / 2
    assert "tuned earns 0.817 (river; `Bandit` -0.050 ±" in words
    ahead, level, behind = (row.split(" | ") for row in answer.where(data).splitlines()[2:])
    assert ahead[1:] == ["**1**: SEA +0.133", "**1**: SEA +0.133 |"]
    assert level[1:] == ["**0**", "**0** |"]
    data["streams"]["digits, permuted"] = data["streams"]["SEA"]
    assert "| **2**: SEA +0.133; digits, permuted +0.133 |" in answer.where(data)
    assert behind[1:] == ["**1**: Elec2 -0.233", "**1**: Elec2 -0.233 |"]


def test_learners_are_compared_over_the_seeds_that_both_played():
    data = of_one_stream(bandit=[0.5, 0.6, 0.9], river=[0.8, 0.8])
    found = shares.Stream(data["streams"]["Elec2"])
    assert found.best("default") == "river"
    assert found.against("bandit", "default").startswith("**behind** -0.250")
    assert found.against("self_tuning", "default") == ""
    assert found.why_not("coba") == ""


def test_only_seeds_that_all_played_count_and_a_peer_that_played_fewer_is_never_the_best():
    data = of_one_stream(bandit=[0.5, 0.5, 0.5], river=[0.6, 0.6, 0.6], coba=[0.2, 0.4], mabwiser=[0.9])
    found = shares.Stream(data["streams"]["Elec2"])
    assert found.seeds == [0, 1]
    assert found.best("tuned") == "river"
    assert found.mean("coba", "default") == pytest.approx(0.3)
    assert not found.complete("mabwiser", "default")
    assert "0.900 (1)" in report.every(data)
    data["streams"]["Elec2"]["mabwiser"] |= {"seeds": [0, 1], "default": [0.9, 0.9], "tuned": [0.9, None]}
    again = shares.Stream(data["streams"]["Elec2"])
    assert again.best("default") == "mabwiser"
    assert again.best("tuned") == "river"


def test_peers_take_part_in_driftbench(tmp_path):
    """The one that is installed plays in every bandit world; one that is not says so."""
    from driftbandits.driftbench import Runner

    file = pathlib.Path(__file__).parents[2] / "benchmarks" / "driftbench_peers.py"
    runner = Runner(tmp_path, worlds=["linear-hard", "items-static", "mdp-hard"], tiny=True, jobs=1)
    made = runner.submit(f"{file}:NumPy")["tracks"]["untuned"]["worlds"]
    assert len(made["linear-hard"]["regret"]) == len(made["items-static"]["regret"]) == 2
    assert "select" in made["mdp-hard"]["absent"] or "observe" in made["mdp-hard"]["absent"]
    if importlib.util.find_spec("coba") is None:
        other = runner.submit(f"{file}:Coba", ["untuned"])["tracks"]["untuned"]["worlds"]
        assert other["linear-hard"]["absent"] == "coba is not installed"
