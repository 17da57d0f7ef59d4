"""Numbers of a strategy that compiled code does not see."""

import copy
import pickle

import numpy as np
import pytest

from driftbandits.core.frozen_array import Frozen
from driftbandits.core.part_json import decode, encode
from driftbandits.errors import InvalidValue


def test_frozen_numbers_compare_by_value_and_never_change():
    given = np.array([1.0, 2.0])
    one, two = Frozen("a", given), Frozen("b", (1, 2))
    given[0] = 9.0
    assert one == two
    assert hash(one) == hash(two)
    assert one != Frozen("c", [1.0, 3.0])
    assert one != (1.0, 2.0)
    with pytest.raises(ValueError, match="read-only"):
        one.array[0] = 5.0


@pytest.mark.parametrize("values", [0.1, [0.1, 1e-300], [[1.0, 1 / 3], [0.0, -2.0]]])
def test_frozen_numbers_survive_files_and_copies(values):
    frozen = Frozen("a", values)
    for again in (decode(encode(frozen)), pickle.loads(pickle.dumps(frozen)), copy.deepcopy(frozen)):
        assert again == frozen
        assert again.array.shape == frozen.array.shape


def test_repr_is_short():
    assert repr(Frozen("a", [1, 2])) == "Frozen([1.0, 2.0])"
    assert repr(Frozen("a", np.zeros((20, 20)))) == "Frozen(shape=(20, 20))"


def test_refuses_what_is_no_finite_number():
    with pytest.raises(InvalidValue, match="prior must be finite"):
        Frozen("prior", [1.0, np.inf])
    with pytest.raises(InvalidValue, match="prior = \\['a'\\] is not an array of numbers"):
        Frozen("prior", ["a"])
