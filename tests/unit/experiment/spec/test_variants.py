"""Other readings of an experiment, and its replications."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import load, plan
from driftbandits.experiment.spec.panels import file, paper
from driftbandits.experiment.spec.source import SpecError
from driftbandits.experiment.spec.variants import for_claims, replicated, under

DELTA = '[[reading]]\nname = "δ = 0.05"\nconstants = { delta = 0.05 }\n'
ARMS = '[[reading]]\nname = "longest"\narms = "max_norm_arms"\n'


def with_readings(folder: pathlib.Path, readings: str):
    return load(small.write(folder, small.TEXT.replace("[tiny]", f"{readings}\n[tiny]")), trials=1)


def test_a_reading_replaces_constants_and_arms(tmp_path: pathlib.Path) -> None:
    experiment = with_readings(tmp_path, DELTA + ARMS)
    own, delta, arms = (
        plan(e).cells[0].spec for e in (experiment, *(under(experiment, r) for r in experiment.readings))
    )
    assert (own["strategy"]["delta"], delta["strategy"]["delta"]) == (1 / 120, 0.05)
    assert delta["environment"] == own["environment"]
    assert own["environment"]["arms"]["use"] == "unit_arms"
    assert arms["environment"]["arms"] == {**own["environment"]["arms"], "use": "max_norm_arms"}


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ('[[reading]]\nname = "a"\nconstants = { dleta = 0.05 }\n', "unknown constant 'dleta'; did you mean 'delta'?"),
        ('[[reading]]\nname = "a"\narms = "unit_amrs"\n', "'unit_amrs'"),
        (DELTA + DELTA, "the name 'δ = 0.05' is used by an earlier reading"),
        ('[[reading]]\nname = "a"\ncolour = 1\n', "unknown key 'colour'"),
    ],
)
def test_a_reading_that_cannot_be_is_refused_with_its_line(tmp_path: pathlib.Path, reading: str, message: str) -> None:
    def read() -> None:
        experiment = with_readings(tmp_path, reading)
        under(experiment, experiment.readings[0])

    with pytest.raises(SpecError, match=r"small\.toml:\d+: ") as refused:
        read()
    assert message in str(refused.value)


def test_replications_have_seeds_of_their_own(tmp_path: pathlib.Path) -> None:
    experiment = load(small.write(tmp_path), seed=3)
    assert replicated(experiment, 4).seeds == (4, 5, 6, 7)  # not 3, with which the claim was found
    assert replicated(experiment, 1).seeds == (4,)


def test_only_what_claims_speak_of_is_run() -> None:
    experiment = load(file("lb-regret"))
    names = [s.name for s in for_claims(experiment).strategies]
    assert "OFUL" in names
    assert not {"SW-UCB", "BOB", "AdaptiveWeightUCB"} & set(names)


def test_every_regret_panel_of_the_paper_has_the_readings_it_leaves_open() -> None:
    for name in paper().panels:
        experiment = load(file(name), trials=1, horizon=50)
        readings = {r.name for r in experiment.readings}
        if experiment.alone:
            assert not readings  # a time depends on none of them
            continue
        wanted = {"δ = 0.001", "δ = 0.05", "other λ", "arms ÷ longest", "arms clipped"}
        assert readings == wanted | ({"‖θ‖ = S"} if name.endswith("s5") else set())
        own = {c.key for c in plan(for_claims(experiment)).cells}
        for reading in experiment.readings:
            assert {c.key for c in plan(under(for_claims(experiment), reading)).cells} != own, reading.name
