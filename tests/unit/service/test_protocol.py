"""How answers are sent: head and body by one system call, in order, whole before the connection closes."""

import asyncio
import gc

import pytest

from driftbandits.service.app import collect_less
from driftbandits.service.protocol import LARGE, JoinedWrites

pytestmark = pytest.mark.interpreted  # no kernel is called


class Transport:
    def __init__(self):
        self.sent = []

    def write(self, data):
        self.sent.append(data)

    def close(self):
        self.sent.append("closed")

    def is_closing(self):
        return "closed" in self.sent


def played(step):
    """What a transport is told while a step runs in an event loop, and in the turn after it."""

    async def play():
        transport = Transport()
        step(JoinedWrites(transport, asyncio.get_running_loop()), transport)
        await asyncio.sleep(0)
        return transport.sent

    return asyncio.run(play())


def test_head_and_body_are_one_write():
    def step(joined, transport):
        joined.write(b"head ")
        joined.write(b"body")
        assert transport.sent == []
        assert not joined.is_closing()

    assert played(step) == [b"head body"]


def test_what_was_written_is_sent_before_the_end():
    def step(joined, _):
        joined.write(b"last words")
        joined.close()
        joined.write(b"")

    assert played(step) == [b"last words", "closed", b""]


def test_large_data_is_sent_at_once_and_in_order():
    def step(joined, transport):
        joined.write(b"head ")
        joined.write(b"x" * LARGE)
        assert [len(data) for data in transport.sent] == [LARGE + 5]
        joined.write(b"tail")

    assert [len(data) for data in played(step)] == [LARGE + 5, 4]


def test_a_worker_looks_for_garbage_less_often():
    before = gc.get_threshold()
    try:
        collect_less()
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
