"""Extensions written for version 0.1 still import."""

import importlib
import sys

import pytest

from driftbandits.util.old_names import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_of_today(old, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} moved to {MOVED[old]} in version 0.2"):
        found = importlib.import_module(old)
    today = importlib.import_module(MOVED[old])
    assert found is today
    assert today.__spec__.name == MOVED[old]


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("driftbandits.kernels")
