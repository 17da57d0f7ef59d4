"""Numbers that cannot be are refused by every part of the zoo's strategies, one at a time; those at the edge are not."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import table

from driftbandits.errors import InvalidValue

POSITIVE = {"lam", "S", "L", "c_mu", "k_mu", "m", "sigma", "eta", "phi", "anchor", "W", "H", "period"}
NOT_NEGATIVE = {
    "R",
    "scale",
    "a",
    "value",
    "top",
}  # zero is greedy play, a world without noise, rewards without a bound
SHARES = {
    "gamma": (0.0, 1.0 + 1e-9),
    "delta": (0.0, 1.0),
    "keep": (0.0, 1.0 + 1e-9),
}  # the nearest that are no longer allowed


def parts_of(value: Any) -> Iterator[Any]:
    """Every part inside a strategy."""
    if hasattr(value, "_fields"):
        yield value
        for item in value:
            yield from parts_of(item)


def numbers() -> dict[str, tuple[Any, str]]:
    """Of one part of each type: its name and field."""
    known = POSITIVE | NOT_NEGATIVE | SHARES.keys()
    parts = {type(part).__name__: part for name in table.ROWS for part in parts_of(table.make(name))}
    return {
        f"{name}.{field}": (part, field)
        for name, part in sorted(parts.items())
        if getattr(part, "check", None) is not None
        for field in part._fields
        if field in known and isinstance(getattr(part, field), float)
    }


NUMBERS = numbers()


def test_there_are_many():
    assert len(NUMBERS) > 60


@pytest.mark.parametrize("name", NUMBERS)
def test_impossible_numbers_are_refused(name):
    part, field = NUMBERS[name]
    if field in POSITIVE:
        bad: tuple[float, ...] = (0.0, -1.0)
    elif field in NOT_NEGATIVE:
        bad = (-0.1,)
        assert getattr(part._replace(**{field: 0.0}), field) == 0.0
    else:
        bad = (*SHARES[field], -1.0)
    for value in (*bad, np.nan):
        with pytest.raises(InvalidValue) as refused:
            part._replace(**{field: value})
        assert "\n" not in str(refused.value)
