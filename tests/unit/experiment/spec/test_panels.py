"""The panels shipped with the library: complete, valid, with a test-size twin."""

import json
import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import load, panel_names, plan, publish
from driftbandits.experiment.run.cells import Cell
from driftbandits.experiment.spec.calls import build
from driftbandits.experiment.spec.catalog import NESTED, Kind, find, parameters
from driftbandits.experiment.spec.panels import file, paper

RESULTS = pathlib.Path(__file__).parents[4] / "docs" / "results"
PAPER = ["lb-regret", "lb-time", "glb-s1", "glb-s5", "scb-s1", "scb-s5"]
BEYOND = ["adaptive", "learners", "mdp-linear", "mdp-mnl", "piecewise", "scaling", "successors"]


def test_all_panels_are_there() -> None:
    assert paper().panels == PAPER
    assert panel_names()[:6] == PAPER
    assert set(BEYOND) <= set(panel_names())


@pytest.mark.parametrize("name", panel_names())
def test_every_panel_is_valid_at_full_and_at_test_size(name: str) -> None:
    full = load(file(name))
    assert full.name == name
    assert full.trials == 20
    tiny = plan(load(file(name), tiny=True))
    assert tiny.experiment.trials <= 3
    assert [s.name for s in tiny.experiment.strategies] == [s.name for s in full.strategies]
    assert full.claims


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_constants(name: str) -> None:
    """Against the table of experiments §1."""
    p = plan(load(file(name), trials=1))
    values = {c.strategy: c.spec["strategy"] for c in p.cells if c.environment != "S=1" or name.endswith("s1")}
    gammas = {
        "LB-WeightUCB": {"lb": 0.97711772},
        "D-LinUCB": {"lb": 0.97711772},
        "GLB-WeightUCB": {"s1": 0.98985378, "s5": 0.99813428},
        "SCB-WeightUCB": {"s1": 0.97711772, "s5": 0.97711772},
        "BVD-GLM-UCB": {"s1": 0.94404931, "s5": 0.94404931},
    }
    lambdas = {"GLB-WeightUCB": {"s1": 51.7381, "s5": 45252.29}, "SCB-WeightUCB": {"s1": 88.4943, "s5": 2617.160}}
    case = "lb" if name.startswith("lb") else name[-2:]
    for strategy, config in values.items():
        if case in gammas.get(strategy, {}):
            assert config["gamma"] == pytest.approx(gammas[strategy][case], abs=1e-8)
        if case in lambdas.get(strategy, {}):
            assert config["lam"] == pytest.approx(lambdas[strategy][case], rel=1e-6)
        if "period" in config:
            assert config["period"] == 34
        if "delta" in config and config["use"] not in ("bob", "master", "dal"):  # of the confidence set
            assert config["delta"] == 1 / 12000


def test_the_other_reading_of_s_5() -> None:
    p = plan(load(file("glb-s5"), trials=1, constants={"theta_norm": 5.0}))
    shown = next(c for c in p.cells if c.strategy == "GLB-WeightUCB")
    assert shown.spec["environment"]["path"]["norm"] == 5.0
    assert shown.spec["strategy"]["gamma"] == pytest.approx(0.99582812, abs=1e-8)
    other = next(c for c in p.cells if c.environment == "S=1")
    assert other.spec["environment"]["path"]["norm"] == 1.0


def test_panels_share_the_cells_of_the_same_world() -> None:
    one = {c.key for c in plan(load(file("glb-s1"), trials=1)).cells}
    five = {c.key for c in plan(load(file("glb-s5"), trials=1)).cells}
    assert len(one & five) == 2


def whole(kind: Kind, tree: dict[str, object]) -> dict[str, object]:
    """A resolved call with the defaults of what it leaves out, so that two ways to say the same are the same."""
    known = parameters(find(kind, str(tree["use"])))
    defaults = {p.name: p.default for p in known.values() if p.default is not p.empty}
    given = {k: whole(NESTED.get(k, "path"), v) if isinstance(v, dict) else v for k, v in tree.items()}
    return {**defaults, **given}


def test_a_policy_of_one_name_in_one_world_has_one_number() -> None:
    """Over all panels: the same world, rounds, seed, what learners are told (S, L, R, δ) and name must be the same policy."""
    known: dict[tuple[str, str], tuple[str, str]] = {}
    different = []
    for name in panel_names():
        planned = plan(load(file(name), trials=1), yes=True)
        for cell in planned.cells:
            scope = planned.scopes[cell.environment]
            told = [float(scope[constant]) for constant in ("S", "L", "R", "delta") if constant in scope]
            place = whole("environment", cell.spec["environment"])
            world = json.dumps([place, cell.horizon, cell.spec["seed"], told], sort_keys=True, default=str)
            policy = repr(build("strategy", cell.spec["strategy"]))
            first, other = known.setdefault((world, cell.strategy), (name, policy))
            if other != policy:
                different.append((cell.strategy, first, other, name, policy))
    assert not different
    assert len(known) > 100


def identity(cell: Cell) -> str:
    """World, rounds, seed and policy."""
    place = [whole("environment", cell.spec["environment"]), cell.horizon, cell.spec["seed"]]
    return json.dumps(place, sort_keys=True, default=str) + repr(build("strategy", cell.spec["strategy"]))


def test_the_published_number_of_a_policy_that_panels_share_is_one() -> None:
    """Over docs/results: a policy that two panels play in the same world, with the same trials, has the same mean in both."""
    known: dict[tuple[str, int], tuple[str, float]] = {}
    shared, different = 0, []
    for path in sorted(RESULTS.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for panel, found in content.get("panels", {}).items():
            if path.stem == "norm-5" or panel not in panel_names():
                continue  # the other reading of S = 5 has worlds of its own
            planned = plan(load(file(panel), trials=1), yes=True)
            several = len({cell.environment for cell in planned.cells}) > 1
            names = {f"{c.strategy} @ {c.environment}" if several else c.strategy: c for c in planned.cells}
            for each in found.get("policies", ()):
                if each["name"] not in names or "final_regret_mean" not in each:
                    continue
                place, mean = (identity(names[each["name"]]), content["trials"]), each["final_regret_mean"]
                first, other = known.setdefault(place, (panel, mean))
                shared += first != panel
                if abs(mean - other) > 1e-6 * abs(other):
                    different.append((each["name"], first, other, panel, mean))
    assert not different
    assert shared >= 9  # those of lb-regret and lb-time at least


def test_the_example_of_the_docs_is_valid(tmp_path: pathlib.Path) -> None:
    page = (pathlib.Path(__file__).parents[4] / "docs" / "command.md").read_text()
    text = page.partition("```toml\n")[2].partition("```")[0]
    p = plan(load(small.write(tmp_path, text), trials=1, horizon=50))
    assert [e.name for e in p.environments] == ["logistic, turns = 1", "logistic, turns = 4"]
    assert len(p.cells) == 2 * 4


def test_scaling_and_several_environments_are_drawn(tmp_path: pathlib.Path) -> None:
    text = small.replaced(
        'path = { use = "rotating" }', 'path = { use = "rotating" }\ngroup = "T"\nT = { grid = ["T/2", "T"] }'
    )
    head, _, _ = text.partition("[[claim]]")
    claim = '[[claim]]\ntext = "slow"\nquantity = "exponent"\naxis = "T"\nleft = "OFUL"\nright = 2.0\n'
    axis = '[[axis]]\ngroup = "T"\nx = "T"\ntheorem = 0.75\n[figure]\nkind = "scaling"\n'
    done = publish("small", [load(small.write(tmp_path, head + claim + axis))], tmp_path / "scaling", with_report=False)
    assert {f.strategy for f in done.panels[0].fits} == {"LB-WeightUCB", "OFUL"}
    assert done.panels[0].claims[0].holds
    assert len(done.figures) == 2
    many = publish("small", [load(small.write(tmp_path, head))], tmp_path / "many", with_report=False)
    names = [p["name"] for p in many.summary["panels"]["small"]["policies"]]
    assert names == [
        "LB-WeightUCB @ rotating T=30",
        "OFUL @ rotating T=30",
        "LB-WeightUCB @ rotating T=60",
        "OFUL @ rotating T=60",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", panel_names())
def test_every_panel_runs_at_test_size(name: str, tmp_path: pathlib.Path) -> None:
    done = publish(name, [load(file(name), tiny=True)], tmp_path / "out", collection=paper())
    assert done.report is not None
    assert done.report.exists()
