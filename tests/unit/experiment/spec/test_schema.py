"""The schema: what is said of values that are not allowed, where they stand, and what is found first."""

import pytest

import small_experiment as small
from driftbandits.experiment.spec.schema import Claim, read, read_collection
from driftbandits.experiment.spec.source import Source, SpecError


def refusal(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        read(Source.from_text(text, "f"))
    assert caught.value.located
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("trials = 4", "trials = 4.0", "f:4: trials = 4.0 is not allowed; it must be a whole number ≥ 1"),
        ("trials = 4", "trials = true", "f:4: trials = True is not allowed; it must be a whole number ≥ 1"),
        ("horizon = 60\n", "", "f:1: 'horizon' is missing; it must be a whole number ≥ 2"),
        (
            "seed = 0",
            "seed = [0, true]",
            "f:6: seed = [0, True] is not allowed; it must be a whole number ≥ 0, or a list",
        ),
        ("seed = 0", "seed = []", "f:6: seed = [] is not allowed"),
        ('name = "small"', 'name = ".."', "f:2: name = '..' is not allowed; it must be letters, digits"),
        ('name = "small"', 'name = ".hidden"', "f:2: name = '.hidden' is not allowed"),
        ('name = "small"', 'name = "a/b"', "f:2: name = 'a/b' is not allowed"),
        ('name = "small"', 'name = "a\\nb"', "f:2: name = 'a\\nb' is not allowed"),
        ('name = "small"', f'name = "{"a" * 300}"', "f:2: name = 'aaaaaaaaaa"),
        ('name = "OFUL"', f'name = "{"a" * 300}"', "f:28: name = 'aaaaaaaaaa"),
        ('name = "OFUL"', 'name = ""', "f:28: name = '' is not allowed; it must be a text of at most 100 printable"),
        (
            'name = "OFUL"',
            'name = "\\u001b[31m"',
            "f:28: name = '\\x1b[31m' is not allowed; it must be a text of at most",
        ),
        ("S = 1.0", "S = [1.0]", "f:10: S = [1.0] is not allowed; it must be a number or a formula"),
        ("S = 1.0", "S = inf", "f:10: S = inf is not allowed; it must be a number or a formula"),
        ("S = 1.0", "S = 2020-01-01", "f:10: S = datetime.date(2020, 1, 1) is not allowed"),
        ("factor = 0.1", 'factor = "1"', "f:39: factor = '1' is not allowed; it must be a number"),
        ("horizon = ", "horizn = ", "f:5: unknown key 'horizn'; did you mean 'horizon'?"),
        ("factor = 0.1", 'quantity = "tiem"', "f:39: quantity = 'tiem' is not allowed; did you mean 'time'?"),
        ("factor = 0.1", 'quantity = "exponent"', "f:35: quantity = 'exponent' needs axis = …"),
        ('left = "OFUL"', 'left = ["OFUL", 3]', "f:37: left = ['OFUL', 3] is not allowed; it must be a name or a list"),
        (
            'right = "LB-WeightUCB"',
            "right = []",
            "f:38: right = [] is not allowed; it must be a name or a list of names",
        ),
        ("[tiny]\ntrials = 2", "[tiny]\ntrials = 0", "f:48: trials = 0 is not allowed; it must be a whole number ≥ 1"),
        (
            "[tiny]",
            "[tiny]\nconstants = { S = true }",
            "f:48: S = True is not allowed; it must be a number or a formula",
        ),
        ("[experiment]", "[[experiment]]", "f:1: experiment = [{'name'"),
        ("[[bound]]", "[bound]", "f:31: bound = {'strategy'"),
    ],
)
def test_one_line_says_where_what_and_what_is_allowed(old: str, new: str, message: str) -> None:
    found = refusal(small.replaced(old, new))
    assert found.startswith(message), found
    assert "\n" not in found
    assert len(found) < 250


def test_the_error_that_stands_first_is_told() -> None:
    text = small.replaced("trials = 4", "trials = 0").replace('use = "oful"', 'colour = "pink"')
    assert refusal(text).startswith("f:4: ")


def test_what_an_experiment_cannot_do_without() -> None:
    assert refusal("") == "f:1: 'experiment' is missing; it must be a table [experiment] with name and horizon"
    text = small.TEXT[: small.TEXT.index("[[strategy]]")]
    assert refusal(text) == "f:1: 'strategy' is missing; it must be one or more [[strategy]]"


def test_a_claim_about_a_number() -> None:
    claim = Claim.model_validate({"text": "?", "left": "a", "right": 2})
    assert (claim.left, claim.others, claim.value) == (("a",), (), 2.0)
    other = Claim.model_validate({"text": "?", "left": ["a", "b"], "right": "c"})
    assert (other.left, other.others, other.value) == (("a", "b"), ("c",), None)


def test_a_collection_without_a_layout() -> None:
    source = Source.from_text('[collection]\nname = "x"\ntitle = "?"\nlayout = 3\n', "f")
    with pytest.raises(SpecError, match="f:4: layout = 3 is not allowed; it must be rows of names of panels"):
        read_collection(source)
