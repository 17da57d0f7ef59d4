"""Features and durations of the retired protocol."""

import pytest

from driftbandits.errors import InvalidValue
from driftbandits.service.personalizer.durations import duration_of, seconds_of
from driftbandits.service.personalizer.features import flat


def test_lists_of_nested_features_become_flat():
    given = [{"a": {"b": {"c": 1}, "d": "x"}}, {"a": {"d": "x"}}, {"a": {"d": "y"}}, {"e": None, "f": [], "g": True}]
    assert flat(given) == {"a.b.c": 1, "a.d": "x", "a.d#2": "y", "g": True}
    assert flat(None) == {} == flat([])
    assert flat([{"user": [{"age": 3}, {"city": "Riga"}]}]) == {"user.age": 3, "user.city": "Riga"}


@pytest.mark.parametrize("seconds", [0.0, 5.0, 60.0, 600.0, 3600.0, 86400.0, 172800.0, 93784.25])
def test_durations_come_back(seconds):
    assert seconds_of(duration_of(seconds), "x") == pytest.approx(seconds)


@pytest.mark.parametrize("wrong", ["", "P", "PT", "10 min", 600, None, "-PT5M", "PT1e3S", "P1M2X", "PT5M" * 99])
def test_what_is_no_duration_is_refused(wrong):
    with pytest.raises(InvalidValue, match="rewardWaitTime"):
        seconds_of(wrong, "rewardWaitTime")
