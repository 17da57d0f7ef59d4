"""Open functions and the compile cache."""

import cProfile
import pathlib
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import driftbandits as db
from driftbandits.core.kernel import entry, generic, kernel, part, sqrt
from driftbandits.errors import InvalidValue, NoMethod


class Stranger(NamedTuple):
    pass


@generic
def shout(part, x):
    """Twice, or as the part says."""


@part
class Loud(NamedTuple):
    factor: float

    def check(self):
        if self.factor < 0:
            raise InvalidValue("factor")


@shout.register(Loud)
def _(part, x):
    return part.factor * x


@entry
def _shout(part, x):
    return shout(part, x)


@entry
def _root(x):
    return sqrt(x)


def test_a_method_is_picked_by_type_from_python_and_from_compiled_code():
    assert shout(Loud(3), 2.0) == 6.0
    assert _shout(Loud(3), 2.0) == 6.0
    assert isinstance(Loud(3).factor, float)


@generic
def mutter(part, x):
    """Half, unless the part says otherwise."""
    return 0.5 * shout(part, x)


@mutter.register(Stranger)
def _(part, x):
    raise InvalidValue("a stranger does not talk")


@entry
def _mutter(part, x):
    return mutter(part, x)


@pytest.mark.parametrize("call", [mutter, _mutter])
def test_a_stub_with_a_body_is_the_default_method(call):
    assert call(Loud(3), 2.0) == 3.0
    assert mutter.knows(Stranger)
    assert not mutter.knows(Loud)


@generic
def sleep(part):
    """A body of `pass` is one."""
    pass


@generic
def give_up(part):
    """So is an empty return."""
    return


@generic
def dots(part): ...


@generic
def nothing(part):
    """Three dots, as in a protocol, are none."""
    ...


@entry
def _sleep(part):
    sleep(part)
    give_up(part)


def test_a_body_that_does_nothing_is_a_default_and_dots_are_not():
    sleep(Stranger())
    _sleep(Stranger())
    for stub in (dots, nothing, shout):
        with pytest.raises(NoMethod, match="has no method for Stranger"):
            stub(Stranger())


def test_tracebacks_and_profiles_name_the_method():
    with pytest.raises(InvalidValue) as raised:
        mutter(Stranger(), 1.0)
    assert raised.traceback[-1].name == "mutter[Stranger]"
    assert pathlib.Path(raised.traceback[-1].path).samefile(__file__)
    with cProfile.Profile() as profile:
        shout(Loud(3), 2.0)
    assert "shout[Loud]" in {getattr(row.code, "co_name", "") for row in profile.getstats()}


def test_one_function_may_be_several_methods():
    @generic
    def first(part, x): ...

    @generic
    def second(part, x): ...

    @first.register(Loud, Stranger)
    @second.register(Loud)
    def _(part, x, *, scale=2.0):
        return scale * x

    assert first(Loud(1), 3.0) == first(Stranger(), 3.0) == second(Loud(1), 3.0) == 6.0


def test_parts_check_themselves():
    with pytest.raises(InvalidValue):
        Loud(-1)
    with pytest.raises(InvalidValue):
        Loud(1)._replace(factor=-1)


@pytest.mark.parametrize("call", [shout, _shout])
def test_a_missing_method_is_one_readable_line(call):
    with pytest.raises(NoMethod, match=r"^shout has no method for Stranger; it knows Loud$"):
        call(Stranger(), 1.0)


def test_square_root():
    assert _root(2.0) == np.sqrt(2.0)


def test_importing_is_light():
    heavy = {"matplotlib", "polars", "plotly", "typer", "gymnasium", "distributed", "pandas"}
    code = f"import sys, driftbandits; print(sorted({{m.split('.')[0] for m in sys.modules}} & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    assert {"Agent", "env", "simulate", "theory", "zoo", "trials"} <= set(db.__all__)
    assert set(dir(db)) == {*db.__all__, "__version__"}  # completion offers what is read only when asked for, too
    assert all(hasattr(db, name) for name in db.__all__)


@kernel
def _twice(x):
    return 2.0 * x


@entry
def _four_times(x):
    return _twice(_twice(x))


def test_a_kernel_is_a_plain_function_to_python():
    """Rules are called from Python too, before and after some entry has compiled the kernels they use."""
    assert _twice(1.5) == 3.0
    assert _four_times(1.5) == 6.0
    assert _twice(1.5) == 3.0
