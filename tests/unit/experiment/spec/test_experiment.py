"""Specifications: what is read, and the one line that refuses what cannot be."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan


def refusal(tmp_path: pathlib.Path, old: str, new: str, **options: bool) -> str:
    """The message about a spec with one piece replaced, without the path of its folder."""
    path = small.write(tmp_path, small.replaced(old, new))
    with pytest.raises(SpecError) as caught:
        plan(load(path, **options))
    return str(caught.value).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'use = "lb_weight_ucb"',
            'use = "lb_wieght_ucb"',
            "small.toml:24: unknown strategy 'lb_wieght_ucb'; did you mean 'lb_weight_ucb'?",
        ),
        (
            'gamma = "lb_gamma"',
            "gamma = 1.5",
            "small.toml:25: lb_weight_ucb: gamma = 1.5 is not allowed; it must be in (0, 1]",
        ),
        (
            'gamma = "lb_gamma"',
            'gama = "lb_gamma"',
            "small.toml:25: unknown parameter 'gama' of lb_weight_ucb; did you mean 'gamma'?",
        ),
        (
            'gamma = "lb_gamma"',
            'gamma = "lb_gama"',
            "small.toml:25: unknown name 'lb_gama' in 'lb_gama'; did you mean 'lb_gamma'?",
        ),
        ('gamma = "lb_gamma"', 'gamma = "1/("', "small.toml:25: '1/(' is not a formula"),
        ('gamma = "lb_gamma"', 'gamma = "1/0"', "small.toml:25: '1/0' has no value: division by zero"),
        ('gamma = "lb_gamma"', 'gamma = "__import__(1)"', "small.toml:25: unknown function '__import__'"),
        ('gamma = "lb_gamma"', 'gamma = "d.real"', "small.toml:25: 'd.real' is not allowed in a formula"),
        ('gamma = "lb_gamma"', 'gamma = "scb_gamma"', "small.toml:25: scb_gamma needs k_mu, which is not known here"),
        ('lam = "d"\n', "", "small.toml:21: lb_weight_ucb needs 'lam'"),
        (
            'path = { use = "rotating" }',
            'path = { use = "rotatign" }',
            "small.toml:20: unknown path 'rotatign'; did you mean 'rotating'?",
        ),
        (
            'path = { use = "rotating" }',
            'path = { use = "rotating", norm = -1 }',
            "small.toml:20: linear: norm = -1.0 is not allowed",
        ),
        ('path = { use = "rotating" }', 'path = "rotating"', "small.toml:20: 'rotating'"),
        ("trials = 4", "trials = 0", "small.toml:4: trials = 0 is not allowed; it must be a whole number ≥ 1"),
        ("trials = 4", "trails = 4", "small.toml:4: unknown key 'trails'; did you mean 'trials'?"),
        ("seed = 0", "seed = -1", "small.toml:6: seed = -1 is not allowed"),
        (
            "horizon = 60",
            'horizon = "long"',
            "small.toml:5: horizon = 'long' is not allowed; it must be a whole number ≥ 2",
        ),
        ('name = "small"', 'name = "../small"', "small.toml:2: name = '../small' is not allowed"),
        (
            'name = "OFUL"',
            'name = "LB-WeightUCB"',
            "small.toml:28: the name 'LB-WeightUCB' is used by an earlier strategy",
        ),
        ('left = "OFUL"', 'left = "OFLU"', "small.toml:37: there is no strategy named 'OFLU'; did you mean 'OFUL'?"),
        ("factor = 0.1", 'relation = "about"', "small.toml:35: relation = 'about' needs tolerance"),
        ("factor = 0.1", 'relation = "=="', "small.toml:39: relation = '==' is not allowed"),
        (
            'use = "lb_regret_bound"',
            'use = "lb_regret_bond"',
            "small.toml:33: unknown bound 'lb_regret_bond'; did you mean 'lb_regret_bound'?",
        ),
        ("[constants]", "[constant]", "small.toml:9: unknown key 'constant'; did you mean 'constants'?"),
        ("[constants]", "[constants", "small.toml:9: not valid TOML"),
        ("S = 1.0", 'S = "S + 1"', "small.toml:10: the constant S = 'S + 1' depends on itself"),
    ],
)
def test_a_bad_spec_is_refused_in_one_line_that_says_where(
    tmp_path: pathlib.Path, old: str, new: str, message: str
) -> None:
    found = refusal(tmp_path, old, new)
    assert "\n" not in found
    if message == "small.toml:20: 'rotating'":
        assert found.startswith("small.toml:20: 'path' must be a table like { use = … }")
    else:
        assert found.startswith(message), found


def test_a_file_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_formulas_are_resolved_to_numbers_and_constants_are_defaults(tmp_path: pathlib.Path) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    first = cells[0].spec
    assert first["strategy"]["gamma"] == pytest.approx(0.7712, abs=1e-3)
    assert first["strategy"]["lam"] == 2.0
    assert first["strategy"]["delta"] == 1 / 120
    assert [c.spec["environment"]["arms"]["seed"] for c in cells if c.strategy == "OFUL"] == [0, 1, 2, 3]
    assert [c.spec["seed"] for c in cells if c.strategy == "OFUL"] == [[0, i] for i in range(4)]


def test_theory_by_name_and_by_the_word_theory_agree(tmp_path: pathlib.Path) -> None:
    by_name = plan(load(small.write(tmp_path)))
    by_word = plan(load(small.write(tmp_path, small.replaced('gamma = "lb_gamma"', 'gamma = "theory"'))))
    assert [c.key for c in by_name.cells] == [c.key for c in by_word.cells]


def test_no_theory_for_a_parameter_is_an_error(tmp_path: pathlib.Path) -> None:
    assert "there is no theory for 'bonus_scale'" in refusal(
        tmp_path, 'gamma = "lb_gamma"', 'gamma = 0.9\nbonus_scale = "theory"'
    )


def test_overrides_replace_what_the_file_says(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    experiment = load(path, trials=3, horizon=30, seed=5, constants={"R": 0.5})
    assert (experiment.trials, experiment.horizon, experiment.seeds) == (3, 30, (5,))
    assert plan(experiment).cells[0].spec["strategy"]["R"] == 0.5
    tiny = load(path, tiny=True)
    assert (tiny.trials, tiny.horizon) == (2, 20)
    with pytest.raises(SpecError, match="unknown constant 'r'"):
        load(path, constants={"r": 1})


def test_grids_multiply_strategies_and_environments(tmp_path: pathlib.Path) -> None:
    text = small.replaced('gamma = "lb_gamma"', "gamma = { grid = [0.9, 0.99] }").replace(
        'name = "LB-WeightUCB"', 'name = "W {gamma}"'
    )
    text = text.replace(
        'path = { use = "rotating" }',
        'path = { use = "rotating", turns = { grid = [1, 2] } }\nT = { grid = ["T/2", "T"] }',
    )
    text = text[: text.index("[[bound]]")]
    p = plan(load(small.write(tmp_path, text)))
    assert [s.name for s in p.strategies] == ["W 0.9", "W 0.99", "OFUL"]
    assert [e.name for e in p.environments] == [f"rotating T={T} turns={t}" for T in ("30", "60") for t in (1, 2)]
    assert len(p.cells) == 3 * 4 * 4
    assert {c.horizon for c in p.cells} == {30, 60}
    assert len({c.key for c in p.cells}) == len(p.cells)


def test_several_seeds_are_further_trials(tmp_path: pathlib.Path) -> None:
    p = plan(load(small.write(tmp_path, small.replaced("seed = 0", "seed = [0, 7]"))))
    oful = [c for c in p.cells if c.strategy == "OFUL"]
    assert [c.trial for c in oful] == list(range(8))
    assert [c.spec["seed"][0] for c in oful] == [0] * 4 + [7] * 4
    worlds = [str(c.spec["environment"]) for c in oful]
    assert len(set(worlds)) == 8  # another seed draws other arms and paths, not only other noise
    alone = plan(load(small.write(tmp_path, small.replaced("seed = 0", "seed = [0]"))))
    assert [str(c.spec["environment"]) for c in alone.cells if c.strategy == "OFUL"] == worlds[:4]  # seed 0 as ever


def test_a_strategy_of_ones_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_exp.py").write_text(
        "import driftbandits as db\n\ndef fast(*, S: float, L: float, R: float, delta: float, lam: float):\n"
        "    return db.zoo.lb_weight_ucb(half_life=5, lam=lam, S=S, L=L, R=R, delta=delta)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    path = small.write(tmp_path, small.replaced('use = "oful"', 'use = "mine_exp:fast"'))
    with pytest.raises(SpecError, match=r"small.toml:29: use = 'mine_exp:fast' runs code .* say --allow-code"):
        load(path)
    before = plan(load(path, allow_code=True)).cells[1]
    assert before.spec["strategy"]["use"] == "mine_exp:fast"
    assert "code of mine_exp" in before.spec
    assert "mine_exp has no 'slow'" in refusal(tmp_path, 'use = "oful"', 'use = "mine_exp:slow"', allow_code=True)
