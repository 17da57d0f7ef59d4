"""Open functions and the compile cache."""

import os
import pathlib
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue, NoRule
from driftbandits.kernel import copy_state, entry, generic, kernel, part, scratch, sqrt, view_state


class Leaf(NamedTuple):
    a: np.ndarray
    b: np.ndarray


class Tree(NamedTuple):
    left: Leaf
    c: np.ndarray


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
def _trees(store, state, blank, i):
    copy_state(view_state(store, i), state)
    copy_state(state, blank)


@entry
def _root(x):
    return sqrt(x)


def tree(shape=()):
    return Tree(Leaf(np.zeros((*shape, 2)), np.zeros((*shape, 2, 3))), np.zeros((*shape, 1), np.int64))


def test_a_rule_is_picked_by_type_from_python_and_from_compiled_code():
    assert shout(Loud(3), 2.0) == 6.0
    assert _shout(Loud(3), 2.0) == 6.0
    assert isinstance(Loud(3).factor, float)


def test_parts_check_themselves():
    with pytest.raises(InvalidValue):
        Loud(-1)
    with pytest.raises(InvalidValue):
        Loud(1)._replace(factor=-1)


@pytest.mark.parametrize("call", [shout, _shout])
def test_a_missing_rule_is_one_readable_line(call):
    with pytest.raises(NoRule, match=r"^shout has no rule for Stranger; it knows Loud$"):
        call(Stranger(), 1.0)


def test_whole_states_are_viewed_and_copied():
    store, state, blank = tree((4,)), tree(), tree()
    state.left.a[:] = 1, 2
    state.left.b[:] = 3
    state.c[:] = 4
    _trees(store, state, blank, 2)
    assert state.c[0] == 0
    assert not state.left.a.any()
    assert store.left.a[2].tolist() == [1, 2]
    assert not store.left.a[1].any()
    _trees(tree((1,)), view_state(store, 2), blank, 0)  # a view is the place itself
    assert not store.left.b.any()


@scratch
class Paper(NamedTuple):
    notes: np.ndarray


class Desk(NamedTuple):
    paper: Paper
    book: np.ndarray


@entry
def _tidy(desk, other):
    copy_state(desk, other)


@pytest.mark.parametrize("copy", [copy_state, _tidy])
def test_scratch_is_not_copied(copy):
    mine, other = Desk(Paper(np.zeros(2)), np.zeros(2)), Desk(Paper(np.ones(2)), np.ones(2))
    copy(mine, other)
    assert mine.book.all()
    assert not mine.paper.notes.any()


def test_square_root():
    assert _root(2.0) == np.sqrt(2.0)


# -------------------------------------------------------------------------------------------------------------- the cache

RULE = """
    from typing import NamedTuple
    import numpy as np
    import driftbandits as db
    from driftbandits.kernel import part, kernel
    from driftbandits.protocol import Limits, beta, limits, wants_horizon, wants_squares
    import helper

    @part
    class Mine(NamedTuple):
        pass

    @beta.register(Mine)
    def _(radius, n, est, horizon):
        return helper.width() * RULE_NUMBER

    @limits.register(Mine)
    def _(radius):
        return Limits(np.inf, -np.inf, np.inf)

    @wants_squares.register(Mine)
    @wants_horizon.register(Mine)
    def _(radius):
        return False

"""
SCRIPT = """
    import driftbandits as db
    from mine import Mine

    strategy = db.zoo.oful(lam=1, S=1, L=1, R=1, delta=0.1)._replace(radius=Mine())
    env = db.env.linear([[1.0, 0.0], [0.0, 1.0]], db.env.static(3, theta=[0.0, 0.0]), noise=0.0)
    print(db.simulate(strategy, env).info["radius"])
"""
HELPER = """
    from driftbandits.kernel import kernel

    @kernel
    def width():
        return HELPER_NUMBER
"""


def run_user_file(folder, rule, helper):
    (folder / "mine.py").write_text(textwrap.dedent(RULE).replace("RULE_NUMBER", str(rule)))
    (folder / "script.py").write_text(textwrap.dedent(SCRIPT))
    (folder / "helper.py").write_text(textwrap.dedent(HELPER).replace("HELPER_NUMBER", str(helper)))
    environment = {**os.environ, "DRIFTBANDITS_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


@pytest.mark.compiled
def test_the_cache_is_used_and_never_stale(tmp_path):
    """Numba stamps only the file of the cached loop; an edited rule, or a helper it calls, must be seen all the same."""

    def loops():
        return {f.name for f in (tmp_path / "cache").rglob("*_rounds*.nbc")}

    assert run_user_file(tmp_path, 2.0, 10.0) == 20.0
    compiled = len(list((tmp_path / "cache").rglob("*.nbc")))
    assert loops()
    assert run_user_file(tmp_path, 2.0, 10.0) == 20.0
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == compiled  # nothing new: read from the cache
    assert run_user_file(tmp_path, 3.0, 10.0) == 30.0
    assert run_user_file(tmp_path, 3.0, 7.0) == 21.0


@pytest.mark.compiled
def test_old_folders_are_dropped(tmp_path, monkeypatch):
    from driftbandits import kernel as module

    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    old, new = tmp_path / "0123456789abcdef", tmp_path / "fedcba9876543210"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    module.cache_folder()
    assert not old.exists()
    assert new.exists()


def test_the_cache_lives_where_the_environment_says(monkeypatch, tmp_path):
    from driftbandits import kernel as module

    monkeypatch.delenv("DRIFTBANDITS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert module.cache_root() == tmp_path / "driftbandits"


def test_importing_is_light():
    heavy = {"matplotlib", "polars", "plotly", "typer", "gymnasium", "distributed", "pandas"}
    code = f"import sys, driftbandits; print(sorted({{m.split('.')[0] for m in sys.modules}} & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_example_of_contributing_runs(tmp_path):
    text = (pathlib.Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    example = text.split("```python\n")[1].split("```")[0].replace("rotating(2000)", "rotating(200)")
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert 0.0 < float(done.stdout) < 200.0


def test_public_names():
    assert {"Agent", "env", "simulate", "theory", "zoo", "trials"} <= set(db.__all__)


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
