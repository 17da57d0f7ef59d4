"""Decisions that wait, and their ids."""

import os

import numpy as np
import pytest

from driftbandits.bandit import pending
from driftbandits.bandit.learner import Memo
from driftbandits.bandit.pending import Open, Pending, new_id

NONE = np.zeros(0)


def test_ids_differ_and_have_128_bits():
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(len(id_) == 32 and int(id_, 16) >= 0 for id_ in ids)


def test_ids_begin_with_the_time_and_end_with_chance(monkeypatch):
    """An index of millions of ids is then written to at its end; 80 bits of each cannot be guessed."""
    monkeypatch.setattr(pending.time, "time_ns", lambda: 1_700_000_000_123_456_789)
    ids = [new_id() for _ in range(1000)]
    assert {int(id_[:12], 16) for id_ in ids} == {1_700_000_000_123}
    assert len({id_[12:] for id_ in ids}) == 1000
    ones = sum(f"{int(id_[12:], 16):080b}".count("1") for id_ in ids)
    assert abs(ones - 40_000) < 6 * (80_000 / 4) ** 0.5


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_many_that_wait_are_put_as_one_by_one(limit):
    rng = np.random.default_rng(0)
    single, many = Pending(limit), Pending(limit)
    for batch in range(10):
        memos = [
            [Memo(int(k), NONE, NONE, NONE, bool(k % 3))] for k in rng.integers(0, 4, size=int(rng.integers(0, 9)))
        ]
        new = [(f"{batch}.{n}", Open(n, 0.0, memo)) for n, memo in enumerate(memos)]
        for id_, opened in new:
            single.put(id_, opened)
        many.put_all([id_ for id_, _ in new], [opened for _, opened in new])
        assert [*many.open.items()] == [*single.open.items()]
        assert (many.awaited, many.dropped) == (single.awaited, single.dropped)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_draws_ids_of_its_own():
    """Ids are drawn many at a time; a child must not give those its parent has drawn."""
    new_id()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, " ".join(new_id() for _ in range(70)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        theirs = pipe.read().split()
    os.waitpid(child, 0)
    assert len(theirs) == 70
    assert not set(theirs) & {new_id() for _ in range(70)}
