"""The lock of agents and bandits."""

import threading
import time

import pytest

from driftbandits.util import fair_lock
from driftbandits.util.fair_lock import FairLock

LONG = 120.0  # seconds after which a test gives up


def start(*works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def finish(threads):
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"


def test_one_thread_at_a_time():
    lock, inside, most = FairLock(), [], []

    def work():
        for _ in range(200):
            with lock, lock:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0)  # lets others in, if they can
                inside.pop()

    finish(start(*[work] * 8))
    assert max(most) == 1
    assert len(most) == 1600


def test_who_waits_has_a_turn_though_another_comes_again_and_again():
    """One thread takes the lock without end; the other must get it nevertheless."""
    lock, done, held = FairLock(), threading.Event(), threading.Event()

    def greedy():
        while not done.is_set():
            with lock:
                held.set()

    def modest():
        held.wait(LONG)
        for _ in range(5):
            with lock:
                pass
        done.set()

    finish(start(greedy, modest))


def test_who_is_inside_enters_again_though_another_waits_too_long(monkeypatch):
    monkeypatch.setattr(fair_lock, "TURN", 0.0)
    lock, waiting = FairLock(), threading.Event()

    def other():
        waiting.set()
        with lock:
            pass

    with lock:
        threads = start(other)
        waiting.wait(LONG)
        while lock._queue is None or not lock._queue.waits_too_long():
            time.sleep(0.001)
        with lock:  # would wait for the other, which waits for us
            pass
    finish(threads)


def test_a_thread_that_comes_lets_who_has_waited_too_long_go_first(monkeypatch):
    monkeypatch.setattr(fair_lock, "TURN", 0.0)
    lock, order = FairLock(), []

    def other():
        with lock:
            order.append("who waited")

    lock.__enter__()
    threads = start(other)
    while lock._queue is None or not lock._queue.waits_too_long():
        time.sleep(0.001)
    lock.__exit__()  # free, but another waits
    with lock:
        order.append("who came")
    finish(threads)
    assert order == ["who waited", "who came"]


def test_an_error_inside_lets_the_lock_go():
    lock = FairLock()
    with pytest.raises(KeyError), lock:
        raise KeyError
    got = []

    def other():
        with lock:
            got.append(1)

    finish(start(other))
    assert got == [1]
