"""A loop that is deleted and made anew while others call it."""

import contextlib
import logging
import threading

import pytest

from driftbandits.errors import CannotWrite
from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.keys import Keys, new_key
from driftbandits.service.loops import Loops
from driftbandits.service.models import Decide
from driftbandits.service.problems import Problem
from driftbandits.service.settings import LoopSettings


def test_another_process_replaces_a_loop_and_callers_find_the_new_one(tmp_path):
    loops, other = (Loops(FileCatalogue(tmp_path, shared=True)) for _ in range(2))
    loops.put("x", LoopSettings())
    loops.use("x", lambda loop: loop.decide([Decide(items=["a", "b"])]))
    moved = other.catalogue.remove("x")  # its files are moved under the feet of the one that has them open
    assert other.put("x", LoopSettings())
    (made,) = loops.use("x", lambda loop: loop.decide([Decide(items=["a", "b"])]))
    assert made.item in ("a", "b")
    assert loops.use("x", lambda loop: loop.info())["decisions"] == 1  # of the new loop
    assert "deleted" in moved
    loops.close()
    other.close()


def test_a_loop_that_another_process_deleted_is_let_go(tmp_path):
    loops, other = (Loops(FileCatalogue(tmp_path, shared=True)) for _ in range(2))
    loops.put("x", LoopSettings())
    bandit = loops.get("x")._bandit
    other.catalogue.remove("x")
    with pytest.raises(Problem, match="there is no loop"):
        loops.use("x", lambda loop: loop.info())
    assert bandit._held is None  # its lock and its files are free
    assert loops.open_now() == []
    loops.close()
    other.close()


def test_nothing_is_opened_while_the_service_ends(tmp_path):
    loops = Loops(FileCatalogue(tmp_path, shared=False))
    loops.put("x", LoopSettings())
    loops.close()
    with pytest.raises(Problem, match="is ending"):
        loops.get("x")
    with contextlib.closing(loops.catalogue.learner("x", LoopSettings())):
        pass  # its lock was let go


def test_a_loop_that_cannot_be_closed_spoils_no_other_call(tmp_path, monkeypatch):
    loops = Loops(FileCatalogue(tmp_path, shared=False), most=1)
    for name in ("x", "y"):
        loops.put(name, LoopSettings())
    store = loops.get("x")._bandit._store

    def full(*_):
        raise CannotWrite(store.name, OSError("disk full"))

    monkeypatch.setattr(store, "snapshot", full)
    assert loops.get("y").name == "y"  # for which x is closed
    loops.close()


def test_deleting_beside_deciding_gives_an_answer_or_404(tmp_path):
    loops = Loops(FileCatalogue(tmp_path, shared=False))
    loops.put("x", LoopSettings())
    loops.start()
    strange, stop = [], threading.Event()

    def decide():
        while not stop.is_set():
            try:
                loops.use("x", lambda loop: loop.decide([Decide(items=["a", "b"])]))
            except Problem as problem:
                if problem.status != 404:
                    strange.append(problem)
            except Exception as problem:
                strange.append(problem)

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        loops.restart("x", None)
    stop.set()
    for thread in threads:
        thread.join()
    loops.close()
    assert strange == []


def test_a_file_of_keys_that_cannot_be_read_is_told_once(tmp_path, caplog):
    path = tmp_path / "keys.toml"
    key = new_key(path, "shop", "decide")
    keys = Keys(path)
    path.write_text("garbage [[[")
    with caplog.at_level(logging.WARNING):
        assert keys.caller(key) is not None
        assert keys.caller(key) is not None
    assert len([row for row in caplog.records if "keys known before" in row.message]) == 1
