"""Parts as types: named tuples with keywords, checked at construction and by mypy."""

import copy
import pickle
import subprocess
import sys

import pytest

from driftbandits.core.parts import Memory, Model, Part, Rule
from driftbandits.errors import InvalidValue
from driftbandits.memory import Discounted
from driftbandits.radius import SelfNormalised


class Fading(Memory):
    """For these tests."""

    rate: float
    floor: float = 0

    def check(self) -> None:
        """A rate."""
        if self.rate < 0:
            raise InvalidValue("rate")


def test_a_part_is_a_tuple_of_floats_of_its_kind():
    part = Fading(rate=1)
    assert tuple(part) == (1.0, 0.0)
    assert all(type(value) is float for value in part)
    assert repr(part) == "Fading(rate=1.0, floor=0.0)"
    assert isinstance(part, Memory)
    assert isinstance(part, Part)
    assert not isinstance(part, Model | Rule)
    assert Fading.__doc__ == "For these tests."


def test_a_part_is_built_with_keywords():
    with pytest.raises(
        InvalidValue, match=r"Fading takes keyword arguments only, Fading\(rate=…, floor=…\); 2 were given by position"
    ):
        Fading(1.0, 2.0)
    with pytest.raises(TypeError, match="lam"):
        Fading(lam=1.0)


def test_no_way_around_the_check():
    part = Fading(rate=1.0)
    for bad in (lambda: Fading(rate=-1.0), lambda: part._replace(rate=-1.0), lambda: Fading._make([-1.0, 0.0])):
        with pytest.raises(InvalidValue, match="rate"):
            bad()


@pytest.mark.parametrize("part", [Discounted(gamma=0.5), SelfNormalised(lam=1, S=2, L=3, R=4, delta=0.5, squared=True)])
def test_copies_are_equal(part):
    for twin in (pickle.loads(pickle.dumps(part)), copy.copy(part), copy.deepcopy(part), part._replace()):
        assert twin == part
        assert type(twin) is type(part)
        assert hash(twin) == hash(part)


SWAPPED = """
from driftbandits import Optimistic
from driftbandits.memory import Everything
from driftbandits.model import Linear
from driftbandits.radius import Constant
from driftbandits.rule import Bonus

Optimistic(model=Linear(lam=1.0), memory=Everything(), radius=Constant(value=1.0, L=1.0), rule=Bonus())
Optimistic(model=Everything(), memory=Linear(lam=1.0), radius=Constant(value=1.0, L=1.0), rule=Bonus())
Constant(1.0, 2.0)
"""


@pytest.mark.slow
def test_mypy_refuses_swapped_parts(tmp_path):
    file = tmp_path / "swapped.py"
    file.write_text(SWAPPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line for line in told.splitlines() if "swapped.py" in line]
    assert [line.partition(": error: ")[2].partition("  [")[0] for line in lines] == [
        'Argument "model" to "Optimistic" has incompatible type "Everything"; expected "Model"',
        'Argument "memory" to "Optimistic" has incompatible type "Linear"; expected "Memory"',
        'Too many positional arguments for "Constant"',
    ]
