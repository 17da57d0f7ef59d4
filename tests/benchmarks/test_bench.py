"""The benchmark itself: streams are the same for all, delays are what they say, and what got worse is told."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from bench import cells, play, quick, report, streams, worker
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


def test_the_setting_that_earns_most_elsewhere_is_played(tmp_path):
    class Peer:
        SETTINGS = ({"k": 0}, {"k": 1})

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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "module", lambda name: Peer)
        patch.setattr(worker, "module", lambda name: Peer)
        patch.setattr(cells, "version", lambda name: "1")
        patch.setattr(streams, "catalogue", lambda scale: {"still": streams.synthetic(streams.still(2, 30))})
        task = cells.wanted(["numpy"], 1.0, 1)[0]["numpy"][0]
        store = cells.Store(tmp_path)
        worker.play_task(Peer, task, store, choose=False)
        assert task.chosen(store) is None
        worker.play_task(Peer, task, store, choose=True)
    assert task.chosen(store) == 1
    assert play.share(store.found(task.tuned(1))) == pytest.approx(1.0)
    assert play.share(store.found(task.default)) < 0.0


def test_a_cell_is_kept_under_all_that_its_numbers_depend_on(tmp_path):
    tasks, absent = cells.wanted(["numpy"], 0.02, 2)
    keys = [task.default for task in tasks["numpy"]]
    assert {key["stream"] for key in keys} == set(streams.catalogue()) - set(absent)
    assert len({cells.digest(key) for key in keys}) == len(keys)
    key = keys[0]
    store = cells.Store(tmp_path)
    store.add(key, {"reward": 1.0})
    again = cells.Store(tmp_path)
    assert key in again
    assert again.found(key)["reward"] == 1.0
    assert {**key, "version": "another"} not in again
    assert {**key, "setting": 1} not in again
    assert {**key, "rounds": "others"} not in again
    with pytest.raises(ValueError, match="not the rounds"):
        cells.stream_of({**key, "rounds": "others"})


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


def test_what_failed_is_tried_again(tmp_path):
    class Broken:
        PACKAGE = "numpy"
        SETTINGS = ({},)

        @staticmethod
        def refuses(stream):
            return "" if stream.name != "warm" else "nothing to warm"

        @staticmethod
        def make(stream, seed):
            raise OverflowError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "module", lambda name: Broken)
        patch.setattr(worker, "module", lambda name: Broken)
        patch.setattr(streams, "catalogue", lambda scale: {"still": streams.synthetic(streams.still(2, 30))})
        task = cells.wanted(["numpy"], 1.0, 1)[0]["numpy"][0]
        assert worker.main("numpy", tmp_path, 1.0, 1) == 2  # once as documented, once for tuning
    assert task.default not in cells.Store(tmp_path)


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
    assert report.verdict(theirs + np.array([0.1, 0.11, 0.12]), theirs).startswith("ahead")
    assert report.verdict(theirs + np.array([0.1, -0.1, 0.0]), theirs).startswith("level")
    assert report.verdict(theirs - np.array([0.1, 0.11, 0.12]), theirs).startswith("**behind**")


def of_one_stream(**rewards):
    """Results in which each learner earned so much in three seeds."""
    told = {
        name: {
            str(k): {variant: {"reward": r, "random": 0.0, "best": 1.0} for variant in ("default", "tuned")}
            for k, r in enumerate(row)
        }
        for name, row in rewards.items()
    }
    return {"streams": {"Elec2": told}}


def test_the_page_gives_a_reason_only_where_a_peer_wins():
    notes = [{"streams": ["Elec2"], "tested": False, "text": "Because it rains."}]
    lost = of_one_stream(bandit=[0.5, 0.6, 0.7], self_tuning=[0.9, 0.9, 0.9], river=[0.8, 0.8, 0.9])
    told = report.reasons(lost, notes)
    assert "**Elec2** (`Bandit` -0.233 to tuned river)" in told
    assert "`self_tuning`" not in told
    assert "Because it rains. *This reason was not tested apart.*" in told
    assert "nobody has looked into the reason" in report.reasons(lost, [])
    won = of_one_stream(bandit=[0.9, 0.9, 0.9], self_tuning=[0.9, 0.9, 0.9], river=[0.8, 0.8, 0.8])
    assert report.reasons(won, notes).startswith("Nowhere")


def test_learners_are_compared_over_the_seeds_that_both_played():
    data = of_one_stream(bandit=[0.5, 0.6, 0.9], river=[0.8, 0.8])
    found = report.Stream(data["streams"]["Elec2"])
    assert found.best("default") == "river"
    assert found.against("bandit", "default").startswith("**behind** -0.250")
    assert found.against("self_tuning", "default") == ""
    assert found.why_not("coba") == ""


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
