"""The answer, piece by piece; what nobody waits for is not computed."""

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import driftbandits as db
from driftbandits.experiment.run.cells import run
from driftbandits.experiment.run.objects import composition, strategy_of, world_of
from driftbandits.lab import answers as work
from driftbandits.lab.answers import Laboratory
from driftbandits.lab.asked import GAMMAS, ask, gammas
from driftbandits.lab.learners import LEARNERS
from driftbandits.lab.question import read
from driftbandits.lab.trials import regret_of

SMALL = {"T": 30, "trials": 3, "n": 5, "learners": ["lb_weight_ucb", "oful"]}


def answers(question: dict[str, Any], lab: Laboratory | None = None) -> list[dict[str, Any]]:
    async def collect() -> list[dict[str, Any]]:
        own = lab or Laboratory(2)
        return [event async for event in own.answer(ask(read(question)))]

    return asyncio.run(collect())


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def test_pieces_come_in_the_order_in_which_they_are_drawn() -> None:
    lab = Laboratory(2)
    answers(SMALL, lab)  # now the code is there; while it is compiled, curves come one by one, without a preview
    kinds = [event["kind"] for event in answers(SMALL, lab)]
    assert kinds == ["plan", "curve", "curve", "curves", "inside", *["gamma"] * (GAMMAS + 1), "done"]


def test_a_preview_of_some_trials_comes_before_all_of_them() -> None:
    lab = Laboratory(2)
    answers(SMALL, lab)
    events = answers({**SMALL, "trials": 10}, lab)
    kinds = [event["kind"] for event in events if event["kind"] in ("curve", "preview", "curves")]
    assert kinds == ["curve", "curve", "preview", "curve", "curve", "curves"]
    asked = ask(read({**SMALL, "trials": 10}))
    few = {event["learner"]: event for event in of_kind(events, "curve") if event.get("preview")}
    for learner, trials in zip(asked.question.chosen, asked.cells, strict=True):
        assert few[learner.key]["final"] == np.mean([run(cell.spec).regret[-1] for cell in trials[:2]])


def test_curves_of_learners_whose_code_is_there_do_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, _ = (trials[0].composition for trials in ask(read(SMALL)).cells)
    known, compiled = threading.Event(), []

    def compile_apart(specs: list[Any]) -> None:
        assert known.wait(60)
        compiled.extend(specs)

    monkeypatch.setattr(work, "interpreted", lambda: False)
    monkeypatch.setattr(work, "is_compiled", lambda name: name != slow)
    monkeypatch.setattr(work, "compile_apart", compile_apart)
    monkeypatch.setattr(work, "compile_one", lambda spec: None)

    async def collect() -> list[dict[str, Any]]:
        events = []
        async for event in Laboratory(2).answer(ask(read(SMALL))):
            events.append(event)
            if event["kind"] == "curve":
                assert bool(compiled) == known.is_set()
                known.set()
        return events

    events = asyncio.run(collect())
    told = [event.get("learner") or event.get("names") for event in events[: len(events) - GAMMAS - 4]]
    assert told[:2] == [None, ["OFUL", "LB-WeightUCB"]]  # the plan, and what is loaded or compiled
    assert told[2:4] == ["lb_weight_ucb", ["OFUL"]]
    assert len(compiled) == 1
    final = {event["learner"]: event["final"] for event in of_kind(events, "curve")}
    assert final == {event["learner"]: event["final"] for event in of_kind(answers(SMALL), "curve")}


def test_the_learners_of_the_story_are_compiled_before_anybody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[dict[str, Any]] = []
    monkeypatch.setattr(work, "interpreted", lambda: False)
    monkeypatch.setattr(work, "is_compiled", lambda name: True)
    monkeypatch.setattr(work, "compile_one", loaded.append)

    async def prepared() -> None:
        await Laboratory(2).compile_ahead()

    asyncio.run(prepared())
    assert len(loaded) == 9
    clicks = ask(read({**work.AHEAD[1], "path": "jumps", "speed": 2, "S": 3, "T": 3000}))  # as in page/story.js
    assert {trials[0].composition for trials in clicks.cells} <= {
        composition(strategy_of(spec["strategy"]), world_of(spec["environment"])) for spec in loaded
    }


@pytest.mark.parametrize(("seconds", "trials"), [(0.0, 4), (0.02, 4), (0.03, 2), (1.0, 2)])
def test_a_preview_of_slow_learners_has_fewer_trials(seconds: float, trials: int) -> None:
    question = {**SMALL, "trials": 20, "T": 5}
    lab, asked = Laboratory(2), ask(read(question))
    lab.cost = {cells[0].composition: seconds for cells in asked.cells}
    (preview,) = of_kind(answers(question, lab), "preview")
    assert preview["trials"] == trials


@pytest.mark.parametrize("slow", [0, 1])
def test_the_learner_whose_trials_took_longest_plays_last(slow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, asked, played = Laboratory(2), ask(read(SMALL)), []
    lab.cost = {trials[0].composition: float(k == slow) for k, trials in enumerate(asked.cells)}
    assert len(lab.cost) == 2
    original = lab._regrets

    async def noted(cells: list[Any], stop: threading.Event) -> Any:
        played.append(cells[0].composition)
        return await original(cells, stop)

    monkeypatch.setattr(lab, "_regrets", noted)
    answers(SMALL, lab)
    assert played[1] == asked.cells[slow][0].composition != played[0]
    assert all(seconds > 0.0 for seconds in lab.cost.values())  # measured again meanwhile


def test_curves_are_means_and_deviations_of_what_run_finds() -> None:
    asked = ask(read(SMALL))
    curves = {event["learner"]: event for event in of_kind(answers(SMALL), "curve")}
    for learner, trials in zip(asked.question.chosen, asked.cells, strict=True):
        regret = np.array([run(cell.spec).regret for cell in trials])
        told = curves[learner.key]
        assert told["final"] == regret.mean(axis=0)[-1]
        np.testing.assert_allclose(told["mean"], regret.mean(axis=0), atol=5e-4)
        np.testing.assert_allclose(told["high"], regret.mean(axis=0) + regret.std(axis=0, ddof=1), atol=1e-3)


@pytest.mark.interpreted
@pytest.mark.parametrize("place", ["linear", "generalized", "river"])
def test_every_learner_of_the_page_plays_and_can_be_looked_into(place: Any) -> None:
    keys = [learner.key for learner in LEARNERS[place]]
    world = {"linear": {}, "generalized": {"link": "logistic"}, "river": {"world": "river", "stages": 2, "states": 3}}
    events = answers({"T": 8, "trials": 1, "n": 4, "noise": 0.0, **world[place], "learners": keys})
    curves = {event["learner"]: event for event in of_kind(events, "curve")}
    assert {key: told.get("error") for key, told in curves.items()} == dict.fromkeys(keys)
    assert all(np.isfinite(told["mean"]).all() for told in curves.values())
    assert set(of_kind(events, "inside")[0]["learners"]) == set(keys)


def test_the_regret_of_the_theorem_s_gamma_stands_on_the_curve() -> None:
    events = answers(SMALL)
    sweep = of_kind(events, "gamma")
    weighted = next(event for event in of_kind(events, "curve") if event["learner"] == "lb_weight_ucb")
    assert sweep[0]["gamma"] == of_kind(events, "plan")[0]["theory"]["gamma"]
    assert sweep[0]["mean"] == pytest.approx(weighted["final"], rel=1e-12)
    assert len({event["mean"] for event in sweep}) > 3
    assert sorted(event["gamma"] for event in sweep) == sorted(gammas(30, sweep[0]["gamma"]))


def test_inside_are_the_estimates_of_the_first_trial() -> None:
    inside = of_kind(answers(SMALL), "inside")[0]
    assert inside["round"] == list(range(1, 31))
    theta = db.env.rotating(30).to_array()
    np.testing.assert_allclose(inside["scene"]["theta"], theta, atol=1e-4)
    asked = ask(read(SMALL))
    cell = asked.cells[[learner.key for learner in asked.question.chosen].index("lb_weight_ucb")][0]
    arms = db.env.unit_arms(5, dim=2, seed=0)
    np.testing.assert_allclose(inside["scene"]["arms"], arms, atol=1e-4)
    course = inside["learners"]["lb_weight_ucb"]
    gamma = cell.spec["strategy"]["gamma"]
    np.testing.assert_allclose(course["memory"], (1 - gamma ** np.arange(1, 31)) / (1 - gamma), atol=0.01)
    assert {tuple(arm) for arm in course["arm"]} <= {tuple(arm) for arm in inside["scene"]["arms"]}
    (a, b, c) = course["shape"][-1]
    assert a > 0
    assert a * c > b * b  # an ellipse
    assert inside["learners"]["oful"]["theta"] != course["theta"]


def test_of_more_dimensions_two_are_shown_and_changing_arms_are_found() -> None:
    question = {**SMALL, "d": 3, "arms": "changing", "learners": ["lb_weight_ucb"]}
    inside = of_kind(answers(question), "inside")[0]
    assert inside["scene"]["arms"] == []
    arms = np.concatenate(list(db.env.redrawn_arms(5, dim=3, seed=0).blocks(30, 30)))
    for t, arm in enumerate(inside["learners"]["lb_weight_ucb"]["arm"]):
        assert np.abs(arms[t, :2].T - arm).max(axis=1).min() < 1e-4


@pytest.mark.interpreted
def test_the_river_tells_policies_values_and_visits() -> None:
    question = {
        "world": "river",
        "T": 30,
        "trials": 2,
        "stages": 4,
        "learners": ["weight_ucrl", "ucrl_vtr"],
        "speed": 1,
    }
    events = answers(question)
    inside = of_kind(events, "inside")[0]
    scene, course = inside["scene"], inside["learners"]["weight_ucrl"]
    assert inside["round"] == list(range(1, 31))
    assert scene["ends"][0] == [0.05, 1.0]  # one change, half-way
    assert scene["ends"][-1] == [1.0, 0.05]
    assert np.shape(course["policy"]) == np.shape(scene["value"]) == (30, 6)
    assert (np.asarray(course["value"]) <= np.asarray(scene["value"]) + 1e-9).all()
    assert 0.0 < np.min(course["planned"]) < np.max(course["planned"]) <= 4.0
    np.testing.assert_allclose(np.sum(course["visits"], axis=1), 1.0, atol=5e-3)
    assert [event["learner"] for event in of_kind(events, "curve")] != []


def test_a_number_changed_back_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Laboratory(2)
    before = of_kind(answers(SMALL, lab), "curve")
    monkeypatch.setattr(work, "regret_of", lambda spec: pytest.fail("computed again"))
    assert sorted(map(str, of_kind(answers(SMALL, lab), "curve"))) == sorted(map(str, before))


def test_what_nobody_waits_for_stops_at_the_end_of_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, count = threading.Event(), threading.Event(), []

    def slow(spec: dict[str, Any]) -> Any:
        count.append(1)
        begun.set()
        assert go_on.wait(120)
        return regret_of(spec)

    async def leave() -> None:
        lab = Laboratory(1)
        monkeypatch.setattr(work, "regret_of", slow)
        pieces = lab.answer(ask(read({**SMALL, "trials": 20})))
        waiting = asyncio.create_task(_until(pieces, "curve"))
        await asyncio.to_thread(begun.wait, 120)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await pieces.aclose()
        go_on.set()
        await asyncio.to_thread(lab.pool.shutdown)

    asyncio.run(leave())
    assert len(count) == 1


def test_who_leaves_at_the_preview_begins_no_further_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slider that still moves: the next question takes over, and must not wait for trials begun meanwhile."""
    lab, count = Laboratory(2), []
    answers({**SMALL, "trials": 2}, lab)  # the code is there

    def counted(spec: dict[str, Any]) -> Any:
        count.append(1)
        return regret_of(spec)

    async def leave() -> None:
        pieces = lab.answer(ask(read({**SMALL, "trials": 20, "seed": 1})))
        await _until(pieces, "preview")
        following = asyncio.ensure_future(anext(pieces))  # as the server, which asks for the next piece at once
        await asyncio.sleep(work.GRACE / 6)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await asyncio.to_thread(lab.pool.shutdown)

    monkeypatch.setattr(work, "regret_of", counted)
    asyncio.run(leave())
    assert len(count) == 2 * 4  # two learners, four trials of twenty


async def _until(pieces: Any, kind: str) -> None:
    async for event in pieces:
        if event["kind"] == kind:
            return


def test_a_learner_that_cannot_run_says_so_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(spec: dict[str, Any]) -> Any:
        if spec["strategy"]["use"] == "oful":
            raise db.errors.InvalidValue("not in this world")
        return regret_of(spec)

    monkeypatch.setattr(work, "regret_of", refuses)
    curves = {event["learner"]: event for event in of_kind(answers(SMALL), "curve")}
    assert curves["oful"] == {"kind": "curve", "learner": "oful", "error": "not in this world"}
    assert curves["lb_weight_ucb"]["final"] > 0


def test_what_cannot_be_planned_is_one_line() -> None:
    with pytest.raises(db.errors.InvalidValue, match=r"^choose at least one learner"):
        ask(read({**SMALL, "learners": ["master"], "arms": "changing"}))
