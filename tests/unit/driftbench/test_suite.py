"""DriftBench: frozen worlds, honest scores, learners of one's own, pages."""

import json
import pathlib

import numpy as np
import pytest

import manuscript
from driftbandits.driftbench import VERSION, WORLDS, Runner, leaderboard, play, scores, suite
from driftbandits.driftbench.bandit_worlds import spread
from driftbandits.driftbench.entrants import ENTRANTS
from driftbandits.driftbench.submission import Part, there, write
from driftbandits.driftbench.task import CannotPlay
from driftbandits.errors import CannotRead, InvalidState, InvalidValue
from driftbandits.mdp import MDP

pytestmark = pytest.mark.interpreted
SIMULATED = [name for name, world in WORLDS.items() if world.family != "real"]
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "driftbench.md"


def test_the_suite_is_as_large_and_varied_as_promised():
    assert VERSION == 1
    assert len(SIMULATED) >= 24
    assert {world.family for world in WORLDS.values()} == set(suite.FAMILIES)
    drifts = {"static", "slow", "jumps", "seasons", "pulses", "returning", "adversarial", "real"}
    assert {world.drift for world in WORLDS.values()} == drifts
    assert not set(suite.draws("judge")) & set(suite.draws("design"))


@pytest.mark.parametrize("name", [n for n in SIMULATED if WORLDS[n].family not in ("mdp", "logit")])
def test_a_world_is_the_same_every_time_and_keeps_what_the_task_says(name):
    made, again, other = suite.drawn(name, 0, True), suite.drawn.__wrapped__(name, 0, True), suite.drawn(name, 1, True)
    task, world = made.task, made.world
    assert (world.rewards == again.world.rewards).all()
    assert not np.array_equal(world.rewards, other.world.rewards)
    X = spread(world.features, world.choices) if task.items else world.features
    assert X.shape == (suite.TINY_ROUNDS, task.choices, task.dim)
    assert np.linalg.norm(X, axis=-1).max() <= task.L * (1 + 1e-12)
    assert made.uniform() > 0.0
    if task.reward == "click":
        assert set(np.unique(world.rewards)) <= {0.0, 1.0}
    elif task.reward == "count":
        assert (world.rewards == np.round(world.rewards)).all()


def test_rewards_have_the_means_that_regret_is_counted_in():
    """Over 3000 rounds of one draw: within four standard errors, world by world."""
    for name in ("linear-jumps", "clicks-rare", "counts-jumps", "kernel-slow", "items-pulses"):
        world = suite.drawn(name, 0).world
        apart = (world.rewards - world.expected).mean(axis=1)
        assert abs(apart.mean()) < 4.0 * apart.std() / len(apart) ** 0.5, name


def test_counts_are_poisson():
    """The quantile function at many levels has Poisson's mean and variance."""
    from driftbandits.driftbench.bandit_worlds import _poisson_quantile

    mean = np.full((20000, 1), 2.3)
    drawn = _poisson_quantile((np.arange(20000) + 0.5) / 20000, mean)
    assert abs(drawn.mean() - 2.3) < 0.01
    assert abs(drawn.var() - 2.3) < 0.03


@pytest.mark.parametrize("name", ["mdp-random-jumps", "mdp-hard", "logit-river-slow"])
def test_mdps_know_their_own_random_play(name):
    made = suite.drawn(name, 0, True)
    assert isinstance(made.world, MDP)
    assert abs(play.regret(ENTRANTS["uniform"], {}, made, [0]) - made.uniform()) < 1e-9


@pytest.mark.parametrize("name", ["q_learning", "ucbvi", "psrl"])
def test_the_baselines_play_where_rewards_have_noise(name):
    made = suite.drawn("mdp-river-jumps", 0, True)
    assert made.world.noise > 0.0
    assert 0.0 < play.regret(ENTRANTS[name], {}, made, [0]) < 2.0 * made.uniform()


def test_another_world_than_the_frozen_one_is_refused(monkeypatch):
    suite.drawn.cache_clear()
    monkeypatch.setattr(suite, "reference", lambda: {"worlds": {"linear-hard": {"best": [1.0] * 11}}})
    with pytest.raises(InvalidState, match="another world on this machine"):
        suite.drawn("linear-hard", 0)
    suite.drawn.cache_clear()


def test_the_frozen_worlds_are_those_of_this_code():
    """Every simulated world is frozen, a draw is drawn as it was, and the best fixed forgetting beats random play in it."""
    frozen = suite.reference()["worlds"]
    assert set(frozen) == set(SIMULATED)
    for name in SIMULATED:
        assert len(frozen[name]["best"]) == 11
        assert sum(frozen[name]["fixed"]) < sum(frozen[name]["uniform"])
        if WORLDS[name].family not in ("mdp", "logit") or name == "mdp-hard":  # the others take long, interpreted
            suite.drawn(name, 0)  # raises if it is another world


def test_the_suite_is_hard():
    """Even the best fixed forgetting of each world, found after the fact, solves no more than a quarter of them."""
    frozen = suite.reference()["worlds"]
    solved = [
        name for name, kept in frozen.items() if np.mean(1 - np.array(kept["fixed"]) / kept["uniform"]) >= suite.CEILING
    ]
    assert len(solved) <= len(frozen) // 4, solved


# -------------------------------------------------------------------------------------------------------------------- scores


def kept(regret, uniform, fixed):
    return {"regret": regret, "uniform": uniform, "fixed": fixed}


def test_scores_are_what_the_page_says():
    worlds = {
        "counts-static": kept([10.0, 20.0], [100.0, 100.0], [10.0, 10.0]),
        "counts-jumps": kept([50.0, 50.0], [100.0, 100.0], [25.0, 25.0]),
        "counts-seasons": {"absent": "why"},
    }
    found = scores.standing(worlds)
    assert found.families == {}  # a family counts only as a whole
    del worlds["counts-seasons"]
    assert scores.standing(worlds).families == {}  # also if only some worlds were played
    worlds["counts-seasons"] = kept([50.0, 50.0], [100.0, 100.0], [25.0, 25.0])
    found = scores.standing(worlds)
    score, over = found.families["counts"], found.over_fixed["counts"]
    assert score.value == pytest.approx((0.85 + 0.5 + 0.5) / 3)
    assert score.error == pytest.approx(0.05 / 3)  # the first world's standard error is .1/√2/√2
    assert over.value == pytest.approx((1.5 * 2.0 * 2.0) ** (1 / 3))
    assert over.error == pytest.approx((8.0 ** (1 / 3) - 4.0 ** (1 / 3)) / 2)
    assert found.overall is None
    assert found.at_ceiling == 0


# ------------------------------------------------------------------------------------------------------- learners of one's own


def ten_lines():
    """The learner that docs/driftbench.md shows."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition("```python\n")[2].partition("```")[0]


def test_a_learner_of_ones_own_takes_part_with_ten_lines(tmp_path):
    code = ten_lines()
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith("import")]) <= 10
    (tmp_path / "mine.py").write_text(code)
    runner = Runner(tmp_path / "cells", worlds=["linear-static", "items-jumps", "mdp-hard"], tiny=True, jobs=1)
    made = runner.submit(str(tmp_path / "mine.py"))
    assert made["code"]
    tuned = made["tracks"]["tuned"]["worlds"]
    assert set(tuned) == {"linear-static", "items-jumps", "mdp-hard"}
    assert "select" in tuned["mdp-hard"]["absent"] or "observe" in tuned["mdp-hard"]["absent"]
    assert len(tuned["linear-static"]["regret"]) == 2
    # Another code is another learner: its cells are not those of this one.
    (tmp_path / "other.py").write_text(code.replace("argmax", "argmin"))
    other = runner.submit(str(tmp_path / "other.py"), ["untuned"])
    untuned = made["tracks"]["untuned"]["worlds"]["linear-static"]["regret"]
    assert other["tracks"]["untuned"]["worlds"]["linear-static"]["regret"] != untuned


def test_what_is_no_learner_is_told_in_one_line(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class A:\n    def select(self, arms): return 0\n")
    with pytest.raises(InvalidValue, match="defines 0 learners"):
        play.entrant_of(str(file))
    with pytest.raises(InvalidValue, match="needs the methods select and update"):
        play.entrant_of(f"{file}:A")
    with pytest.raises(InvalidValue, match="unknown learner 'ofull'"):
        play.entrant_of("ofull")
    two = tmp_path / "wrong.py"
    body = "    def __init__(self, task, seed): pass\n    def update(self, reward): pass\n    def select(self, arms): return 99\n"
    two.write_text(f"class B:\n{body}")
    runner = Runner(tmp_path, worlds=["linear-hard"], tiny=True, jobs=1)
    with pytest.raises(InvalidValue, match="select returned 99 in round 0; it must be the index of one of 16 arms"):
        runner.submit(str(two), ["untuned"])
    body = body.replace("return 99", "arms *= 2.0")
    (tmp_path / "spoils.py").write_text(f"class D:\n{body}")
    told = r"spoils.py in linear-hard, draw 0: ValueError: .*read-only \(spoils.py, line 4: def select.*arms \*= 2.0\)"
    with pytest.raises(InvalidValue, match=told):
        runner.submit(str(tmp_path / "spoils.py"), ["untuned"])
    (tmp_path / "true.py").write_text(f"class E:\n{body.replace('arms *= 2.0', 'return True')}")
    with pytest.raises(InvalidValue, match="select returned True"):
        runner.submit(str(tmp_path / "true.py"), ["untuned"])
    for file, name, why in (("f.py", "../x", "it names a file"), ("g.py", "oful", "a learner of the suite")):
        (tmp_path / file).write_text(f"class F:\n    name = {name!r}\n{body}")
        with pytest.raises(InvalidValue, match=why):
            play.entrant_of(str(tmp_path / file))
    greedy = tmp_path / "greedy.py"
    greedy.write_text(f"class C:\n    settings = [{{}}] * 9\n{body}")
    with pytest.raises(InvalidValue, match="at most 8 dictionaries"):
        play.entrant_of(str(greedy))


def test_every_learner_of_the_suite_can_be_built_where_it_plays():
    """Each plays whole families, so that it has a score; `uniform` plays everywhere."""
    tasks = {world: suite.drawn(world, 0, True).task for world in SIMULATED}
    for name, entrant in ENTRANTS.items():
        plays = {}
        for world in SIMULATED:
            try:
                entrant.build(tasks[world], {})
                plays.setdefault(WORLDS[world].family, set()).add(True)
            except CannotPlay:
                plays.setdefault(WORLDS[world].family, set()).add(False)
        assert {True} in plays.values(), name
        assert all(len(found) == 1 for found in plays.values()), (name, plays)
        assert len(entrant.settings) <= suite.SETTINGS


def test_tuning_looks_at_design_draws_only(tmp_path, monkeypatch):
    asked = []
    original = play.regret
    monkeypatch.setattr(
        play, "regret", lambda e, s, made, seed: asked.append((dict(s), seed[2])) or original(e, s, made, seed)
    )
    runner = Runner(tmp_path, worlds=["linear-hard"], tiny=True, jobs=1)
    made = runner.submit("numpy_linucb", ["tuned"])
    tried = {draw for setting, draw in asked if setting != made["tracks"]["tuned"]["worlds"]["linear-hard"]["setting"]}
    assert tried == set(suite.draws("design", True))
    assert len(asked) == 2 * 9 + 2


# --------------------------------------------------------------------------------------------------------------- leaderboard


@pytest.fixture
def submissions(tmp_path):
    runner = Runner(tmp_path / "cells", worlds=["counts-static", "counts-jumps", "counts-seasons"], tiny=True, jobs=1)
    for name in ("uniform", "numpy_linucb"):
        write(tmp_path / "in", runner.submit(name))
    return tmp_path / "in"


def test_a_leaderboard_is_one_page_and_a_table_per_track(submissions, tmp_path):
    own = json.loads((submissions / "uniform.json").read_text())
    (submissions / "evil.json").write_text(json.dumps(own | {"learner": "<b>x_y</b>", "role": "own"}))
    files = leaderboard.write(submissions, tmp_path / "out")
    assert [file.name for file in files] == [
        "leaderboard.html",
        *(f"leaderboard-{track}.{ending}" for track in ("untuned", "tuned") for ending in ("tex", "md")),
    ]
    page = files[0].read_text()
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched
    assert "<b>x_y" not in page
    assert "&lt;b&gt;x_y" in page
    table = files[3].read_text()
    assert table.count("\\\\\n") == 4
    assert "numpy\\_linucb" in table
    assert "\\toprule" in table
    # The score is computed from the regrets, whatever a file claims.
    own["tracks"]["tuned"]["families"]["counts"]["score"] = [9.0, 0.0]
    (submissions / "uniform.json").write_text(json.dumps(own))
    assert leaderboard.write(submissions, tmp_path / "out")[3].read_text() == table
    for track in ("untuned", "tuned"):
        manuscript.structure((tmp_path / "out" / f"leaderboard-{track}.tex").read_text())


def test_why_there_is_no_score_is_told(tmp_path, monkeypatch):
    """A learner that is stopped, one that takes no part, and one that has not been played are three things."""
    body = "    def __init__(self, task, seed): pass\n    def update(self, reward): pass\n    def select(self, arms): return 0\n"
    (tmp_path / "slow.py").write_text(f"class Slow:\n{body}")
    runner = Runner(tmp_path / "cells", worlds=["counts-static", "mdp-hard", "logit-river-slow"], tiny=True, jobs=1)
    monkeypatch.setattr(suite, "SECONDS", -1.0)
    write(tmp_path / "in", runner.submit(str(tmp_path / "slow.py"), ["untuned"]))
    (row,) = leaderboard.rows(leaderboard.read(tmp_path / "in"), "untuned")
    assert "used more than -1 s" in row.absent["counts-static"]
    assert [leaderboard.no_score(row, family) for family in ("counts", "clicks", "mdp")] == [
        "> 120 s",
        "not played",
        "not played",
    ]
    for absent in ([name for name in WORLDS if name.startswith("mdp")], []):  # of a file with all MDPs, and with none
        assert leaderboard.no_score(row._replace(absent=dict.fromkeys(absent, "it is for bandits")), "mdp") == "–"


def test_what_is_no_submission_is_refused_by_name(submissions, tmp_path):
    with pytest.raises(CannotRead, match="no folder"):
        leaderboard.read(tmp_path / "nowhere")
    whole = json.loads((submissions / "uniform.json").read_text())
    for change, why in (
        ({"version": 2}, "driftbench 2"),
        ({"tracks": {"untuned": {"worlds": {"counts-static": {"regret": [1.0]}}}}}, "2 finite numbers"),
        ({"tracks": {"untuned": {"worlds": {"nowhere": {}}}}}, "nowhere"),
        ({"tiny": False}, "8"),
    ):
        (submissions / "bad.json").write_text(json.dumps(whole | {"learner": "bad"} | change))
        with pytest.raises(CannotRead, match=why):
            leaderboard.read(submissions)
    (submissions / "bad.json").write_text(json.dumps(whole))
    with pytest.raises(InvalidValue, match=r"bad.json and .*uniform.json are both of uniform"):
        leaderboard.read(submissions)
    for text, why in (("[]", "holds a list"), ("{}", "has no 'suite'"), ("{", "Expecting")):
        (submissions / "bad.json").write_text(text)
        with pytest.raises(CannotRead, match=rf"bad.json .*{why}"):
            leaderboard.read(submissions)


def test_scores_relative_to_other_references_than_the_frozen_are_refused(tmp_path):
    whole = json.loads((PAGE.parent / "results" / "driftbench" / "oful.json").read_text())
    world = whole["tracks"]["untuned"]["worlds"]["counts-jumps"]
    world["uniform"] = [100.0 * each for each in world["uniform"]]
    (tmp_path / "oful.json").write_text(json.dumps(whole))
    with pytest.raises(CannotRead, match="counts-jumps: 'uniform' is not what this version"):
        leaderboard.read(tmp_path)


def test_a_file_grows_and_is_never_shortened(tmp_path):
    """Other worlds and tracks are joined; what would remove results is refused, and by `there` before anything is played."""

    def runner(*worlds):
        return Runner(tmp_path / "cells", worlds=worlds, tiny=True, jobs=1)

    write(tmp_path, runner("counts-static").submit("uniform", ["untuned"]))
    file = write(tmp_path, runner("linear-hard").submit("uniform", ["tuned"]))
    both = runner("linear-hard", "counts-static").submit("uniform", ["untuned"])
    file = write(tmp_path, both)
    found = json.loads(file.read_text())
    assert {track: list(kept["worlds"]) for track, kept in found["tracks"].items()} == {
        "untuned": ["linear-hard", "counts-static"],
        "tuned": ["linear-hard"],
    }
    assert found["made_by"].count("bench-suite") == 3
    other = runner("counts-static").identity("uniform") | {"library": "other"}
    with pytest.raises(InvalidValue, match="another version of the library in 1 worlds that would be lost"):
        there(tmp_path, other, {Part("untuned", "counts-static"), Part("untuned", "linear-hard")})
    all_of_it = {Part(track, name) for track in ("untuned", "tuned") for name in ("counts-static", "linear-hard")}
    assert there(tmp_path, other, all_of_it) is None
    file.write_text(json.dumps(found | {"tiny": False}))
    with pytest.raises(InvalidValue, match="--tiny must not replace"):
        write(tmp_path, both)
    file.write_text("{}")
    with pytest.raises(InvalidValue, match="is no submission"):
        write(tmp_path, both)
    assert file.read_text() == "{}"


def test_the_page_shows_the_files_of_results(tmp_path):
    submissions = leaderboard.read(PAGE.parent / "results" / "driftbench")
    text = PAGE.read_text(encoding="utf-8")
    for track in ("untuned", "tuned"):
        assert leaderboard.markdown(submissions, track) in text
        tex = leaderboard.latex(submissions, track)
        manuscript.structure(tex)
        (tmp_path / f"{track}.tex").write_text(tex)
        assert not manuscript.problems(
            tmp_path, [rf"\begin{{table}} \input{{{track}}} \caption{{Scores.}} \end{{table}}"], 2
        )
        for row in leaderboard.rows(submissions, track):  # hard: nobody solves more than a quarter of what they play
            assert row.standing.at_ceiling <= len(row.standing.worlds) // 4, row


def test_all_learners_together_solve_no_more_than_a_quarter_of_the_worlds():
    """Static ones only, as the page says."""
    solved = {
        name
        for each in leaderboard.read(PAGE.parent / "results" / "driftbench")
        for played in each["tracks"].values()
        for name, row in played["worlds"].items()
        if "regret" in row and np.mean(1 - np.array(row["regret"]) / row["uniform"]) >= suite.CEILING
    }
    assert solved == {"linear-static", "clicks-static", "counts-static", "items-static"}
    assert len(solved) <= len(WORLDS) // 4
