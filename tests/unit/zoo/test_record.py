"""Records: complete, true, and the one place where an algorithm is described."""

import inspect

import pytest

import driftbandits as db
from driftbandits import theory, zoo
from driftbandits.errors import InvalidValue
from driftbandits.zoo.citations import _form, papers
from driftbandits.zoo.papers import BIBTEX
from driftbandits.zoo.record import RECORDS, algorithm, parameters, records

NAMES = sorted(RECORDS)


def test_the_zoo_exports_its_records():
    assert zoo.__all__ == NAMES
    assert {
        name
        for module in (
            zoo.tuning_free,
            zoo.igw,
            zoo.bayes,
            zoo.detection,
            zoo.linear,
            zoo.generalized_linear,
            zoo.self_concordant,
            zoo.confidence_sets,
            zoo.one_pass,
            zoo.meta,
            zoo.episodic_detection,
            zoo.mdp,
            zoo.adaptive_weights,
            zoo.kernels,
            zoo.episodic_master,
            zoo.linear_mdp,
            zoo.variance,
            zoo.pool,
        )
        for name in module.__all__
    } == set(NAMES)


def test_every_algorithm_of_a_module_has_a_record():
    for module in (
        zoo.tuning_free,
        zoo.igw,
        zoo.bayes,
        zoo.detection,
        zoo.linear,
        zoo.generalized_linear,
        zoo.self_concordant,
        zoo.confidence_sets,
        zoo.one_pass,
        zoo.meta,
        zoo.mdp,
        zoo.adaptive_weights,
        zoo.kernels,
        zoo.episodic_master,
        zoo.linear_mdp,
        zoo.variance,
        zoo.pool,
    ):
        public = {
            name
            for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
        }
        assert public == set(module.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_complete(name):
    record = RECORDS[name]
    assert record.remembers
    assert record.plays
    assert record.regret
    assert record.summary.endswith((".", ")", ":")), record.summary
    assert record.example.keys() <= parameters(record.make)
    assert record.build() == record.build()


@pytest.mark.parametrize("name", NAMES)
def test_bounds_and_formulas_are_functions_of_theory(name):
    record = RECORDS[name]
    for formula in [*record.tuned_by.values(), *([record.bound] if record.bound else [])]:
        assert callable(getattr(theory, formula.partition("(")[0].partition("[")[0])), formula


@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_cites_what_its_name_cites(name):
    assert set(papers(RECORDS[name].build())) >= set(papers(name))
    if "base" not in RECORDS[name].example:
        assert papers(RECORDS[name].build()) == papers(name)


def test_no_two_algorithms_with_different_papers_have_the_same_form():
    found = {}
    for record in records():
        assert found.setdefault(_form(record.build()), record.papers) == record.papers


def test_variants_of_an_algorithm_cite_the_same():
    constants = {"gamma": 0.9, "lam": 1, "S": 1, "L": 1, "delta": 0.1}
    for link in ("logistic", "probit"):
        bvd = zoo.bvd_glm_ucb(link=link, **constants)
        assert papers(bvd) == ["wang2023revisiting", "faury2021regret"]
    det = zoo.d_lin_ucb(radius="det", R=1, **constants)
    assert papers(det) == ["wang2023revisiting", "russac2019weighted"]
    windowed = zoo.sw_glm_ucb(window=9, lam=1, S=1, L=1, delta=0.1)
    assert "russac2020algorithms" in papers(windowed)


def test_a_composition_of_ones_own_cites_its_parts():
    strategy = zoo.d_lin_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1)._replace(memory=db.memory.Window(W=5))
    assert papers(strategy) == ["wang2023revisiting", "abbasi2011improved", "cheung2019learning", "russac2019weighted"]
    assert set(papers(strategy)) <= set(BIBTEX)


def test_a_record_is_checked_when_it_is_made():
    def oful():
        """A second one."""

    def fresh():
        """Cites nobody known."""

    plain = {
        "family": "linear",
        "remembers": "nothing",
        "plays": "0",
        "regret": "none",
        "example": {},
        "world": "linear",
    }
    with pytest.raises(InvalidValue, match="two algorithms are called oful"):
        algorithm(**plain)(oful)
    with pytest.raises(InvalidValue, match=r"fresh cites \['nobody1999'\], not in papers\.py"):
        algorithm(**plain, papers=("nobody1999",))(fresh)
    assert "fresh" not in RECORDS


def test_options_that_are_passed_on_are_written_out():
    takes = inspect.signature(zoo.lb_weight_ucb).parameters
    assert list(takes) == [
        *("gamma", "half_life", "radius_n", "lam", "S", "L", "R", "delta"),
        *("bonus_scale", "radius", "uniform_in_time", "features", "robust", "caution"),
    ]
    assert takes["lam"].default is inspect.Parameter.empty
    assert takes["lam"].annotation is float
    assert takes["radius"].default == "trace"
    assert not any(
        p.kind is p.VAR_KEYWORD for record in records() for p in inspect.signature(record.make).parameters.values()
    )


def test_a_missing_or_misspelt_option_is_refused_in_the_name_of_the_algorithm():
    with pytest.raises(TypeError, match=r"^oful\(\) is missing required arguments: L, R, delta$"):
        zoo.oful(lam=1, S=1)
    with pytest.raises(
        TypeError, match=r"^oful\(\) got an unexpected keyword argument 'bonus_scal'; did you mean 'bonus_scale'\?"
    ):
        zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1, bonus_scal=2)


@pytest.mark.parametrize("name", [name for name in NAMES if parameters(RECORDS[name].make) & {"window", "period"}])
@pytest.mark.parametrize("given", [0, -3, 2.5, "ten"])
def test_a_window_or_period_that_is_none_is_refused_by_its_own_name(name, given):
    """Not by that of the memory's field, H or W."""
    record = RECORDS[name]
    (own,) = parameters(record.make) & {"window", "period"}
    with pytest.raises(InvalidValue, match=f"^{own} = ") as problem:
        record.make(**record.example | {own: given})
    assert "\n" not in str(problem.value)
