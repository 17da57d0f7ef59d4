"""The table of rooms: complete, true of the sources, and the only thing that decides what is compiled or run again."""

import re

from driftbandits.core import code_cache, rooms
from driftbandits.mdp.value_targeted import ValueTargeted
from driftbandits.memory import Discounted

COMPILED = re.compile(r"^@(kernel|solver|entry|generic|part)\b", re.MULTILINE)


def test_every_folder_and_module_is_listed():
    found = {p.name for p in rooms.PACKAGE.iterdir() if p.suffix == ".py" or (p.is_dir() and any(p.glob("*.py")))}
    assert found == set(rooms.ROOMS)


def test_at_most_three_modules_lie_flat():
    assert len([name for name in rooms.ROOMS if name.endswith(".py") and name != "__init__.py"]) <= 3


def test_rooms_without_compiled_code_have_nothing_to_compile():
    places = [rooms.PACKAGE / name for name, room in rooms.ROOMS.items() if not room.compiled]
    files = [file for place in places for file in ([place] if place.suffix else place.rglob("*.py"))]
    assert len(files) > 50
    assert [file for file in files if COMPILED.search(file.read_text())] == []


def test_compiled_rooms_do_not_import_rooms_that_decide_nothing():
    """Except for files that they are saved to and learn from, locks, and bounds on what they earned, which no kernel calls."""
    graph = __import__("grimp").build_graph("driftbandits", exclude_type_checking_imports=True)
    aside = {name for name, room in rooms.ROOMS.items() if not (room.compiled or room.decides)} - {
        "io",
        "tables",
        "util",
        "inference",
    }
    for name, room in rooms.ROOMS.items():
        if room.compiled:
            inside = f"driftbandits.{name.removesuffix('.py')}"
            imported = {
                m for d in {inside} | graph.find_descendants(inside) for m in graph.find_modules_directly_imported_by(d)
            }
            assert not {m for m in imported if m.split(".")[1:2] and m.split(".")[1] in aside}, name


def test_only_code_of_a_room_apart_depends_on_the_room(tmp_path, monkeypatch):
    for name in ("core/algebra.py", "mdp/plan.py", "zoo/names.py", "plots/colours.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    monkeypatch.setattr(rooms, "compiled_digest", rooms.compiled_digest.__wrapped__)
    monkeypatch.setattr(code_cache, "compiled_digest", rooms.compiled_digest)
    package = frozenset([Discounted])
    monkeypatch.setattr(
        code_cache, "rooms_apart", lambda modules: frozenset({"mdp"} if any(".mdp" in m for m in modules) else ())
    )

    def digests():
        return code_cache.digest(package), code_cache.digest(package | {ValueTargeted}), code_cache.digest()

    core, mdp, nothing = digests()
    assert core == nothing != mdp
    (tmp_path / "zoo/names.py").write_text("2")
    assert digests() == (core, mdp, core)
    (tmp_path / "mdp/plan.py").write_text("2")
    assert digests()[0] == core
    assert digests()[1] != mdp
    (tmp_path / "core/algebra.py").write_text("2")
    assert digests()[0] != core


def test_a_colour_of_a_plot_repeats_no_trial(tmp_path, monkeypatch):
    for name in ("core/algebra.py", "plots/colours.py", "agent/agent.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    digest = rooms.result_digest.__wrapped__
    before = digest()
    (tmp_path / "plots/colours.py").write_text("2")
    (tmp_path / "agent/agent.py").write_text("2")
    assert digest() == before
    (tmp_path / "core/algebra.py").write_text("2")
    assert digest() != before
