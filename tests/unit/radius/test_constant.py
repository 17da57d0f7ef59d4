"""A radius that is a number."""

import numpy as np
import pytest

from driftbandits.errors import InvalidValue
from driftbandits.protocol import beta, limits
from driftbandits.radius import Constant


def test_it_is_its_value_in_every_round():
    for value in (0.0, 0.25):  # zero is allowed: the greedy learner
        radius = Constant(value=value, L=2.0)
        assert [beta(radius, np.array([n, n]), None, 100) for n in (0.0, 7.0)] == [value, value]
        assert limits(radius)[:3] == (2.0, -np.inf, np.inf)


def test_what_it_refuses():
    with pytest.raises(InvalidValue, match=r"value = -0\.1 is not allowed; it must be ≥ 0"):
        Constant(value=-0.1, L=1.0)
    with pytest.raises(InvalidValue, match=r"L = 0\.0 is not allowed"):
        Constant(value=0.1, L=0.0)
