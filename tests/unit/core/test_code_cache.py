"""Compiled code on disk: never stale, whole or absent, and nobody else's."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numba
import numpy as np
import pytest
from numba.core.cpu import CPUContext

from driftbandits.core import code_cache, registry
from driftbandits.core.code_cache import MARKER, CacheWarning, CodeFolder
from driftbandits.core.kernel import entry
from driftbandits.errors import UnsafeCache
from driftbandits.memory import Discounted

compiled = pytest.mark.compiled
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have no such permissions")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path / "cache"))
    code_cache.warn_once.cache_clear()
    return tmp_path / "cache"


def pieces(folder, ending="nbc"):
    return sorted(folder.rglob(f"*.{ending}"))


# ------------------------------------------------------------------------------------------------------------- never stale

LOOP = """
    from driftbandits.core.kernel import entry, generic

    @generic
    def loudness(part): ...

    @entry
    def shout(part):
        return loudness(part)
"""
HELPER = """
    from driftbandits.core.kernel import kernel

    @kernel
    def factor():
        return HELPER_NUMBER
"""
METHOD = """
    from typing import NamedTuple
    import helper, loop
    from driftbandits.core.kernel import part

    @part
    class Mine(NamedTuple):
        pass

    @loop.loudness.register(Mine)
    def _(part):
        return helper.factor() * METHOD_NUMBER

"""


def shouted(folder, method, helper, *, at_a_prompt=False):
    """The number that a fresh process computes with these sources."""
    (folder / "loop.py").write_text(textwrap.dedent(LOOP))
    (folder / "helper.py").write_text(textwrap.dedent(HELPER).replace("HELPER_NUMBER", str(helper)))
    own = textwrap.dedent(METHOD).replace("METHOD_NUMBER", str(method))
    if not at_a_prompt:
        (folder / "mine.py").write_text(own)
        own = "import loop\nfrom mine import Mine\n"
    # -B: Python takes its byte code of an edit that is a second younger at most, and as long, for that of the file.
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", own + "\nprint(loop.shout(Mine()))"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@compiled
def test_the_cache_is_used_and_never_stale(tmp_path, own_cache):
    """Numba stamps only the file of the loop; an edited method, or a helper it calls, must be seen all the same."""
    assert shouted(tmp_path, 2.0, 10.0) == 20.0
    before = pieces(own_cache)
    assert len(before) == 1
    times = [p.stat().st_mtime_ns for p in before]
    assert shouted(tmp_path, 2.0, 10.0) == 20.0
    assert [p.stat().st_mtime_ns for p in pieces(own_cache)] == times  # nothing new: read from the cache
    assert shouted(tmp_path, 3.0, 10.0) == 30.0
    assert shouted(tmp_path, 3.0, 7.0) == 21.0


@compiled
def test_a_method_typed_at_a_prompt_is_not_kept(tmp_path, own_cache):
    """It has no file whose content could be compared: the next session may mean another method by the same name."""
    assert shouted(tmp_path, 2.0, 10.0, at_a_prompt=True) == 20.0
    assert shouted(tmp_path, 3.0, 10.0, at_a_prompt=True) == 30.0
    assert not pieces(own_cache)


def test_the_digest_is_of_the_source_that_runs_not_of_a_later_edit(tmp_path):
    source = tmp_path / "user.py"
    source.write_text("def method(part): ...\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names)

    class Part:
        pass

    registry.note_method(Part, names["method"])
    before = code_cache.digest(frozenset([Part]))
    source.write_text("def method(part): return 1.0\n")
    assert code_cache.digest(frozenset([Part])) == before
    assert before not in (None, code_cache.digest())


def test_a_kernel_of_the_user_s_concerns_only_what_is_made_with_code_of_the_user_s(monkeypatch):
    """No code of the package can call it: a script with a kernel, or a line at a prompt, starts as fast as any other."""

    class Own:
        pass

    def method(part): ...

    registry.note_method(Own, method)
    package, own = frozenset([Discounted]), frozenset([Discounted, Own])
    monkeypatch.setattr(registry, "_helpers", {})
    before = code_cache.digest(package), code_cache.digest(own)
    monkeypatch.setattr(registry, "_helpers", {"mine.py": "a"})
    assert code_cache.digest(package) == before[0]
    assert code_cache.digest(own) not in (None, before[1])
    monkeypatch.setattr(registry, "_helpers", {"<stdin>": ""})
    assert code_cache.digest(package) == before[0]
    assert code_cache.digest(own) is None


# ---------------------------------------------------------------------------------------------------------- whole or absent


def double(x):
    return 2.0 * x


def fresh(function=double):
    """A dispatcher that knows no code yet, as in a new process."""
    return entry(function)


def damage_truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_emptied(path):
    path.write_bytes(b"")


def damage_flipped(path):
    content = bytearray(path.read_bytes())
    content[-20] ^= 0x10  # of an index, in its checksum; what else it says is for people
    path.write_bytes(content)


def damage_replaced(path):
    path.write_bytes(b"[1, 2, 3]")


@compiled
@pytest.mark.parametrize("ending", ["nbc", "nbi"])
@pytest.mark.parametrize("damage", [damage_truncated, damage_emptied, damage_flipped, damage_replaced])
def test_damaged_code_is_compiled_anew_once(own_cache, damage, ending):
    assert fresh()(3.0) == 6.0
    (path,) = pieces(own_cache, ending)
    damage(path)
    with pytest.warns(CacheWarning, match="damaged and is compiled again") as said:
        assert fresh()(3.0) == 6.0
    assert len(said) == 1
    times = [p.stat().st_mtime_ns for p in pieces(own_cache)]
    code_cache.warn_once.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fresh()(3.0) == 6.0  # healed
    assert [p.stat().st_mtime_ns for p in pieces(own_cache)] == times


@compiled
@pytest.mark.parametrize("ending", ["nbc", "nbi"])
def test_half_a_piece_is_none(own_cache, ending):
    """A process was killed between the two files."""
    assert fresh()(3.0) == 6.0
    pieces(own_cache, ending)[0].unlink()
    assert fresh()(3.0) == 6.0
    assert len(pieces(own_cache, "nbc")) == len(pieces(own_cache, "nbi")) == 1


@compiled
def test_kept_code_is_loaded_without_what_numba_compiles_with(own_cache, monkeypatch):
    assert fresh()(3.0) == 6.0
    (index,) = pieces(own_cache, "nbi")
    about = json.loads(index.read_text())
    assert "PyFloat_AsDouble" in about["needs"]
    loaded = []
    monkeypatch.setattr(CPUContext, "refresh", lambda context: loaded.append(context))
    assert fresh()(3.0) == 6.0
    assert not loaded
    for needs in (
        None,
        "PyFloat_AsDouble",
        ["PyFloat_AsDouble", "numba_has_no_such_function"],
    ):  # then numba knows better
        index.write_text(json.dumps(about | {"needs": needs}))
        loaded.clear()
        assert fresh()(3.0) == 6.0
        assert len(loaded) == 1


@compiled
def test_whole_code_that_cannot_be_loaded_is_compiled_anew(own_cache):
    assert fresh()(3.0) == 6.0
    (code,), (index,) = pieces(own_cache, "nbc"), pieces(own_cache, "nbi")
    code.write_bytes(b"no pickle")
    about = json.loads(index.read_text())
    index.write_text(json.dumps(about | {"sha256": hashlib.sha256(b"no pickle").hexdigest()}))
    with pytest.warns(CacheWarning, match="damaged"):
        assert fresh()(3.0) == 6.0


def test_every_flipped_bit_is_seen(own_cache):
    store = CodeFolder(own_cache / "compiled" / "0123456789abcdef")
    piece = bytes(range(8))
    store.write("piece", piece, {})
    assert store.read("piece") == piece
    path = store.place / "piece.nbc"
    for bit in range(8 * len(piece)):
        bad = bytearray(piece)
        bad[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bad)
        code_cache.warn_once.cache_clear()
        with pytest.warns(CacheWarning, match="damaged"):
            assert store.read("piece") is None
        store.write("piece", piece, {})


def test_writers_and_readers_at_once_see_whole_pieces(own_cache):
    store = CodeFolder(own_cache / "compiled" / "0123456789abcdef")
    contents = [bytes([i]) * 5000 for i in range(4)]
    store.write("piece", contents[0], {})
    seen = []

    def write(i):
        for _ in range(15):
            store.write("piece", contents[i], {})

    def read():
        for _ in range(100):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seen.append(store.read("piece"))

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)] + [threading.Thread(target=read)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(seen) <= {*contents, None}  # None where a reader came between the two files
    store.write("piece", contents[1], {})
    assert store.read("piece") == contents[1]
    assert not list(store.place.glob(".*.part"))


@compiled
def test_two_processes_compile_a_piece_once(tmp_path, own_cache):
    (tmp_path / "slow.py").write_text(
        textwrap.dedent("""
        import sys, time, pathlib
        from driftbandits.core import numba_private
        from driftbandits.core.kernel import entry
        full = numba_private._compile_once
        def counted(compile_, signature):
            time.sleep(1.0)
            return full(compile_, signature)
        numba_private._compile_once = counted
        saved = numba_private.CodeCache.save_overload
        def save(self, *args):
            print("compiled", flush=True)
            saved(self, *args)
        numba_private.CodeCache.save_overload = save
        @entry
        def f(x):
            return x + 1.0
        assert f(1.0) == 2.0
        """)
    )
    start = [sys.executable, "slow.py"]
    running = [subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [p.communicate()[0] for p in running]
    assert [p.returncode for p in running] == [0, 0]
    assert sorted(said) == ["", "compiled\n"]


@compiled
def test_threads_that_compile_leave_the_settings_of_numba_alone():
    """The folder used to be set in numba.config for the time of a compilation; two threads left it changed in 11 of 40 tries."""
    before, seen = numba.config.CACHE_DIR, set()

    def one(i):
        made = {}
        exec(compile(f"def f(x):\n    return x + {i}.0\n", __file__, "exec"), made)
        seen.add(numba.config.CACHE_DIR)
        assert entry(made["f"])(1.0) == 1.0 + i
        seen.add(numba.config.CACHE_DIR)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(10)))
    assert seen == {before}
    assert before == numba.config.CACHE_DIR


@compiled
def test_a_cache_that_cannot_be_written_costs_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(CacheWarning) as said:
        answers = fresh()(3.0), fresh(lambda x: x + 1.0)(3.0)
    assert answers == (6.0, 4.0)
    assert len(said) == 1
    message = str(said[0].message)
    assert "set DRIFTBANDITS_CACHE to a folder that you can write to" in message
    assert "\n" not in message


# ------------------------------------------------------------------------------------------------------------ nobody else's


@posix
@compiled
def test_folders_are_made_for_the_user_alone(own_cache):
    mask = os.umask(0)
    try:
        assert fresh()(3.0) == 6.0
    finally:
        os.umask(mask)
    paths = [own_cache, *own_cache.rglob("*")]
    assert len(paths) > 4
    for path in paths:
        mode = path.stat().st_mode & 0o777
        if path.is_dir():
            assert mode == 0o700, path
        elif path.suffix in (".nbc", ".nbi"):
            assert mode == 0o600, path


@posix
@compiled
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_folder_that_others_may_write_to_is_refused(own_cache, mode, level):
    assert fresh()(3.0) == 6.0
    (code,) = pieces(own_cache)
    place = [own_cache, code.parent.parent, code.parent][level]
    place.chmod(mode)
    with pytest.raises(UnsafeCache, match=rf"may be written by others \(mode {mode:o}\).*chmod go-w") as refused:
        fresh()(3.0)
    assert "\n" not in str(refused.value)
    place.chmod(0o700)
    assert fresh()(3.0) == 6.0


@posix
@compiled
@pytest.mark.parametrize("ending", [".nbc", ".nbi"])
def test_a_file_that_others_may_write_to_is_refused(own_cache, ending):
    assert fresh()(3.0) == 6.0
    (code,) = pieces(own_cache)
    file = code.with_suffix(ending)
    file.chmod(0o666)
    with pytest.raises(UnsafeCache, match=r"the file in the cache .* may be written by others \(mode 666\)"):
        fresh()(3.0)
    file.chmod(0o600)
    assert fresh()(3.0) == 6.0


@posix
@compiled
def test_an_empty_folder_that_others_may_write_to_is_refused_before_code_is_put_there(own_cache):
    own_cache.mkdir()
    own_cache.chmod(0o777)
    with pytest.raises(UnsafeCache, match="may be written by others"):
        fresh()(3.0)
    assert not pieces(own_cache)


@posix
@compiled
def test_a_folder_of_another_user_is_refused_and_one_of_root_is_not(own_cache, monkeypatch):
    assert fresh()(3.0) == 6.0
    me, found = os.geteuid(), pathlib.Path.stat

    def owned_by(uid):
        def stat(self, **options):
            real = list(found(self, **options))
            real[4] = uid
            return os.stat_result(real)

        return stat

    monkeypatch.setattr(pathlib.Path, "stat", owned_by(me + 1234))
    with pytest.raises(UnsafeCache, match=f"belongs to user {me + 1234}"):
        fresh()(3.0)
    monkeypatch.setattr(pathlib.Path, "stat", owned_by(0))
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert fresh()(3.0) == 6.0


# -------------------------------------------------------------------------------------------------------------- what is old


def aged(path, days):
    then = time.time() - days * 86400.0
    os.utime(path, (then, then))


def test_only_our_own_old_folders_are_dropped(own_cache):
    ours = own_cache / "compiled"
    old, used, foreign, now = (ours / (c * 16) for c in "abcd")
    for place in (old, used):
        code_cache.make(place)
        (place / "piece.nbc").write_bytes(b"code")
        aged(place, 100)
    aged(old / MARKER, 31)
    aged(used / MARKER, 29)
    foreign.mkdir()  # named like ours, but without the marker
    users = own_cache / "0123456789abcdef"  # where the first release kept its code, and users may keep anything
    users.mkdir()
    elsewhere = own_cache.parent / "elsewhere"
    code_cache.make(elsewhere / "compiled" / ("e" * 16))
    link = ours / ("e" * 16)
    link.symlink_to(elsewhere / "compiled" / ("e" * 16))
    for place in (foreign, users, link):
        (place / "data.csv").write_text("years of work")
        aged(place, 100)
    aged(link / MARKER, 100)
    code_cache.make(now)
    assert not old.exists()
    assert used.exists()
    assert (foreign / "data.csv").read_text() == (users / "data.csv").read_text() == "years of work"
    assert (elsewhere / "compiled" / ("e" * 16) / "data.csv").exists()


def test_a_folder_in_use_does_not_grow_old(own_cache):
    store = CodeFolder(own_cache / "compiled" / "0123456789abcdef")
    store.write("piece", b"code", {})
    aged(store.place / MARKER, 20)
    assert store.read("piece") == b"code"
    assert time.time() - (store.place / MARKER).stat().st_mtime < 3600.0


def test_the_cache_lives_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.delenv("DRIFTBANDITS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert code_cache.root() == tmp_path / "driftbandits"
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path / "mine"))
    assert code_cache.folder().parent == tmp_path / "mine" / "compiled"


@compiled
def test_code_for_every_machine_of_a_kind_is_second_choice():
    from driftbandits.core import numba_private

    code = numba_private.CodeCache(double, numba_private.OPTIONS, CodeFolder(pathlib.Path("nowhere")))
    own, generic = code.names((numba.float64,))
    assert own == code.name((numba.float64,)) != generic
    assert generic == code.name((numba.float64,), (numba_private.this_machine()[0], "generic", ""))


def test_one_name_is_one_function_for_one_list_of_types():
    from driftbandits.core import numba_private

    code = numba_private.CodeCache(double, numba_private.OPTIONS, CodeFolder(pathlib.Path("nowhere")))
    strict = numba_private.CodeCache(double, numba_private.STRICT, CodeFolder(pathlib.Path("nowhere")))
    brief = numba_private.CodeCache(
        double, numba_private.OPTIONS | {"nogil": False}, CodeFolder(pathlib.Path("nowhere"))
    )
    one, two = (numba.float64,), (numba.typeof(np.zeros(2)),)
    machine = ("here", "cpu", "")
    assert len({c.name(s, machine) for c in (code, strict, brief) for s in (one, two)}) == 6
