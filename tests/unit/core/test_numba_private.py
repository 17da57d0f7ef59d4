"""What we borrow of numba: without it, the same numbers."""

import sys
import threading
import time
import warnings
from typing import NamedTuple

import numba
import numpy as np
import pytest

from driftbandits.core import code_cache, numba_private
from driftbandits.core.kernel import entry, generic, kernel, part, solver

pytestmark = pytest.mark.compiled


@part
class Loud(NamedTuple):
    factor: float


def composition():
    """A loop over leaves that nothing has compiled yet."""

    @generic
    def tone(part, x):
        """Something that is inlined."""

    @tone.register(Loud)
    def _(part, x):
        return part.factor * norm(x)

    @kernel
    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * x[i]
        return s

    @solver
    def norm(x):
        return total(x) ** 0.5

    @entry
    def sing(part, x):
        return tone(part, x) + tone(part, x)

    return sing


X = np.random.default_rng(0).standard_normal(100)


class Gone(set):
    def __contains__(self, item):
        raise AttributeError("'JITCodeLibrary' object has no attribute '_final_module'")


def no_classes():
    raise ImportError("cannot import name 'JITCodeLibrary'")


@pytest.mark.parametrize(("name", "gone"), [("_private_classes", no_classes), ("_apart", Gone())])
def test_without_the_fast_path_compilation_is_plain_and_says_so_once(monkeypatch, tmp_path, name, gone):
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    fast = composition()(Loud(1.5), X)
    monkeypatch.setattr(numba_private, name, gone)
    monkeypatch.setattr(numba_private, "_plainly", False)
    with pytest.warns(numba_private.CompilerWarning, match="results are the same") as said:
        plain = composition()(Loud(1.5), X)
    assert len(said) == 1
    assert plain == fast
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = entry(lambda x: x + 1.0)(1.0)
    assert again == 2.0


def test_threads_that_compile_at_once_leave_numba_as_it_was(monkeypatch, tmp_path):
    """A thread that starts while another compiles must not take the other's methods for numba's own and put them back."""
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    library, context, _ = numba_private._private_classes()
    before = library.finalize, context.get_executable
    waiting = threading.Event()

    def second():
        waiting.set()
        composition()(Loud(1.5), X)

    thread = threading.Thread(target=second)
    with numba_private._intermediate_leaves([]):
        thread.start()
        waiting.wait()
        time.sleep(0.5)  # the second thread reaches the lock meanwhile
    thread.join()
    assert (library.finalize, context.get_executable) == before


def test_a_mistake_in_a_kernel_is_no_lack_of_numba(monkeypatch, tmp_path):
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    with pytest.raises(numba.core.errors.TypingError):
        entry(lambda x: x.no_such_attribute)(1.0)
    assert not numba_private._plainly


def test_without_a_store_nothing_is_kept_and_that_is_said_once(monkeypatch, tmp_path):
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(numba_private, "_can_keep", lambda dispatcher: False)
    code_cache.warn_once.cache_clear()
    with pytest.warns(code_cache.CacheWarning, match="does not support our store of compiled code") as said:
        answers = entry(lambda x: x + 1.0)(1.0), entry(lambda x: x + 2.0)(1.0)
    assert answers == (2.0, 3.0)
    assert len(said) == 1
    assert not list(tmp_path.rglob("*.nbc"))


def test_types_are_spelled_with_the_module_of_their_classes():
    def local():
        class Loud(NamedTuple):
            factor: float

        return Loud

    mine, other = numba.typeof(Loud(1.0)), numba.typeof(local()(1.0))
    assert str(mine) == str(other)
    assert numba_private.spelled(mine) == f"{__name__}.Loud(factor: float64)"
    assert numba_private.spelled(other) != numba_private.spelled(mine)
    assert (
        numba_private.spelled(numba.typeof((Loud(1.0), X))) == f"({numba_private.spelled(mine)}, array(float64, 1d, C))"
    )


def test_the_version_in_use_is_one_we_promise():
    def number(text):
        return tuple(map(int, text.split(".")[:2]))

    low, high = numba_private.TESTED
    assert number(low) <= number(numba.__version__) <= number(high)


def test_a_random_generator_is_given_back():
    """Numba's record of it would stay for ever, with a reference to it: 64 bytes per decision."""

    @entry
    def draw(rng):
        return rng.random()

    ours, theirs = np.random.default_rng(0), np.random.default_rng(0)
    before = sys.getrefcount(ours)
    drawn = [draw(ours) for _ in range(20)]
    assert sys.getrefcount(ours) == before
    with_counts = numba.njit(draw.interpreted)
    before = sys.getrefcount(theirs)
    assert [with_counts(theirs) for _ in range(20)] == drawn
    assert sys.getrefcount(theirs) == before
