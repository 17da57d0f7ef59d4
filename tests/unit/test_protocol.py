"""The contract: the table at the top of protocol/ is complete and true."""

import re

import pytest

import driftbandits as db
from driftbandits import protocol
from driftbandits.errors import NoMethod

TABLE, _, REST = protocol.__doc__.partition("Further functions")
OPEN = {
    name
    for name, value in vars(protocol).items()
    if hasattr(value, "register") and value.__module__.startswith(protocol.__name__)
}


def test_every_open_function_is_public():
    assert set(protocol.__all__) >= OPEN


class Nobody:
    """Answers nothing."""


def columns():
    """{part: (names it must answer, names it may answer)}, from the table."""
    edges = [
        0,
        *[m.end() for m in re.finditer(r"=  (?==)", next(line for line in TABLE.splitlines() if line[:4] == "===="))],
    ]
    rows, last = {}, ""
    for line in TABLE.splitlines():
        cells = [line[a:b] for a, b in zip(edges, [*edges[1:], None], strict=True)]
        if ("`" in line and line[:1].isalpha()) or (line.startswith("  ") and "`" in line):
            last = cells[0].strip() or last
            must, may = rows.setdefault(last, (set(), set()))
            must |= set(re.findall(r"`(\w+)`", cells[2]))
            may |= set(re.findall(r"`(\w+)`", cells[3]))
    return rows


def has_default(name):
    """Does the open function answer for a class that no part has?"""
    try:
        getattr(protocol, name)(Nobody())
    except NoMethod:
        return False
    except TypeError:  # too few arguments: there is a body to give them to
        return True
    return True


def test_the_table_names_every_open_function():
    named = {name for must, may in columns().values() for name in must | may}
    paragraph = REST.partition("\n\n")[0]
    assert named | set(re.findall(r"`(\w+)`", paragraph)) == OPEN


def test_what_may_be_answered_has_a_default_and_what_must_has_none():
    rows = columns()
    assert set(rows) == {"memory", "model", "radius", "rule", "strategy", "sums"}
    for must, may in rows.values():
        assert [name for name in must if has_default(name)] == []
        assert [name for name in may if not has_default(name)] == []
    assert [name for name in re.findall(r"`(\w+)`", REST.partition("\n\n")[0]) if has_default(name)] == []


def test_a_part_answers_few_functions():
    sizes = {part: len(must) for part, (must, _) in columns().items()}
    assert sizes == {"memory": 2, "model": 1, "radius": 2, "rule": 1, "strategy": 5, "sums": 2}


def test_a_missing_method_is_one_readable_line():
    with pytest.raises(NoMethod, match=r"^beta has no method for Nobody; it knows Constant, "):
        protocol.beta(Nobody(), None, None, 0)


LINEAR = db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"memory": LINEAR.model}, r"memory = Linear\(lam=1.0\) is a model; it must be a memory, a subclass of Memory"),
        ({"radius": LINEAR.rule}, r"radius = Bonus\(\) is a rule; it must be a radius"),
        ({"rule": 3.0}, "rule = 3.0 is a float; it must be a rule"),
        ({"model": None}, "model = None is a NoneType; it must be a model"),
    ],
)
def test_swapped_parts_are_refused_in_one_line(changes, words):
    with pytest.raises(db.DriftBanditsError, match=words) as caught:
        LINEAR._replace(**changes)
    assert "\n" not in str(caught.value)
