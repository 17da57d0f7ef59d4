"""Parts are found by what they are: one name, one part, and never the copy that came with kept code."""

import os
import subprocess
import sys
import textwrap
import types
from typing import NamedTuple

import pytest

from driftbandits.core import registry
from driftbandits.core.kernel import part
from driftbandits.errors import CannotRead

SCRIPT = """
    from driftbandits.core.kernel import entry
    from driftbandits.core.part_json import decode, encode
    from driftbandits.core.parts import Memory

    class Leaky(Memory):
        gamma: float

    @entry
    def share(memory):  # kept on disk, and with it a copy of the class, which the second run loads
        return memory.gamma

    mine = Leaky(gamma=0.9)
    print(share(mine), type(decode(encode(mine))) is Leaky)
"""


def test_no_two_parts_of_the_library_have_one_name():
    import driftbandits.bandit
    import driftbandits.replay  # noqa: F401

    ours = [k for k in registry.known_parts() if k.__module__.startswith("driftbandits.") and hasattr(k, "_fields")]
    names = sorted(k.__name__ for k in ours)
    assert [name for name in set(names) if names.count(name) > 1] == []
    assert all(registry.find_part(k.__name__) is k for k in ours)


@pytest.mark.compiled
def test_a_part_of_a_script_is_loaded_into_its_own_class_on_the_second_run_too(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(SCRIPT))
    env = os.environ | {"DRIFTBANDITS_CACHE": str(tmp_path / "cache"), "DRIFTBANDITS_COMPILE": "now"}
    for _ in range(2):
        done = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.stdout.strip() == "0.9 True", done.stderr


def test_of_two_classes_of_one_name_the_one_in_its_module_is_found(monkeypatch):
    def make():
        class Twin(NamedTuple):
            x: float

        Twin.__module__, Twin.__qualname__ = "two_of_one_name", "Twin"
        return part(Twin)

    mine, copy = make(), make()
    with pytest.raises(CannotRead, match="2 parts are called"):
        registry.find_part("two_of_one_name:Twin")
    module = types.ModuleType("two_of_one_name")
    module.Twin = mine
    monkeypatch.setitem(sys.modules, "two_of_one_name", module)
    assert registry.find_part("two_of_one_name:Twin") is mine is not copy
