"""Decisions that wait, and their ids."""

import os

import pytest

from driftbandits.bandit.pending import new_id


def test_ids_differ_and_have_128_bits():
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(len(id_) == 32 and int(id_, 16) >= 0 for id_ in ids)


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
