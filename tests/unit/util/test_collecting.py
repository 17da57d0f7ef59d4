"""While a batch is under way Python does not search for cycles; afterwards it does what it did before."""

import gc

import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.bulk import decide as decide_module
from driftbandits.util.collecting import uncollected


def interrupted():
    with uncollected():
        assert not gc.isenabled()
        return 1 // 0


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_is_as_it_was_even_after_an_error(enabled):
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ZeroDivisionError):
            interrupted()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_a_batch_of_decisions_is_not_searched(monkeypatch):
    bandit, seen, decide = db.Bandit(seed=0), [], decide_module._decide
    monkeypatch.setattr(decide_module, "_decide", lambda *args: (seen.append(gc.isenabled()), decide(*args)))
    made = bandit.decide_batch(pd.DataFrame({"x": [1.0, 2.0]}), offers=["a", "b"])
    assert (seen, len(made)) == ([False], 2)
    assert gc.isenabled()
