"""Definition, lookup by name, and running of studies."""

import inspect
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...core.rooms import ROOMS
from ...errors import InvalidValue
from ...io.cell_store import JsonStore
from ...io.files import make_folder, write_atomically
from ...util.spelling import did_you_mean
from ..run.runner import Progress
from ..spec import panels
from .cells import Cells, load

TableWriter = Callable[..., str]  # from what a study found, and arguments that a page gives, a table in Markdown


class Report(NamedTuple):
    """What a study found: plain data, and figures by the paths of their files."""

    found: Mapping[str, Any]
    figures: Mapping[str, Any] = {}  # of Matplotlib


class Done(NamedTuple):
    """What a run of a study wrote, and how many of its cells were computed for it."""

    files: list[pathlib.Path]
    cells: int
    computed: int


@dataclass(frozen=True)
class Study:
    """A question, and the function that answers it with cells."""

    name: str
    about: str
    make: Callable[..., Report]
    tiny: Mapping[str, Any]
    also: frozenset[str]
    file: pathlib.Path
    settings: Mapping[str, Any] = field(default_factory=dict)  # names of what can be set, with their defaults
    tables: Mapping[str, TableWriter] = field(default_factory=dict)

    def run(
        self,
        out: pathlib.Path,
        *,
        cells: pathlib.Path,
        tiny: bool = False,
        jobs: int | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Done:
        """Compute what is missing, and write `results/NAME.json` and the figures below `out`.

        Parameters
        ----------
        out
            The folder, such as docs.
        cells
            The folder that keeps finished cells.
        tiny
            A smoke test: the small sizes that the study names.
        jobs
            Processes; by default one per core.
        progress
            Told how many cells are done.
        settings
            In place of the study's defaults.
        """
        chosen = self._checked(settings)
        sizes = {**(self.tiny if tiny else {}), **chosen}
        with Cells(JsonStore(cells), also=self.also, jobs=jobs, progress=progress) as asked:
            report = self.make(asked, **sizes)
        command = " ".join([f"driftbandits study {self.name}", *["--tiny"] * tiny, *_options(chosen)])
        content = json.dumps({"made_by": command, **report.found}, indent=1, ensure_ascii=False)
        files = [out / "results" / f"{self.name}.json", *(out / name for name in report.figures)]
        for folder in {file.parent for file in files}:
            make_folder(folder)
        write_atomically(files[0], content + "\n")
        for file, figure in zip(files[1:], report.figures.values(), strict=True):
            figure.savefig(file)
        return Done(files, asked.total, asked.computed)

    def _checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        for name, value in settings.items():
            if name not in self.settings:
                hint = did_you_mean(name, list(self.settings)) or f"; it has {', '.join(self.settings) or 'none'}"
                raise InvalidValue(f"study '{self.name}' has no setting '{name}'{hint}")
            default = self.settings[name]
            if isinstance(default, int) and not isinstance(value, int):
                raise InvalidValue(f"{name} = {value!r} is not allowed; it must be a whole number, as {default} is")
        return dict(settings)


def _options(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        yield f"--set {name}={value if isinstance(value, str) else json.dumps(value)}"


def study(
    *,
    tiny: Mapping[str, Any],
    name: str | None = None,
    also: frozenset[str] = frozenset(),
    tables: Mapping[str, TableWriter] | None = None,
) -> Callable[[Callable[..., Report]], Study]:
    """Make a function a study.

    The function is called with `Cells` and its settings, which are keyword arguments with defaults. The first line of its docstring, or
    else of its file's, says what it is about.

    Parameters
    ----------
    tiny
        Settings with which it takes seconds; a test runs it with them.
    name
        By default the function's.
    also
        Rooms of the library that it uses beyond those that decide a simulation, such as "bandit" or "replay".
    tables
        Functions that write a table of what was found, by the name under which a page asks for it.
    """
    unknown = also - ROOMS.keys()
    if unknown:
        raise InvalidValue(f"also = {sorted(unknown)} is not allowed; rooms of this library are {', '.join(ROOMS)}")

    def decorate(make: Callable[..., Report]) -> Study:
        given = list(inspect.signature(make).parameters.values())[1:]
        settings = {p.name: p.default for p in given if p.default is not p.empty}
        if len(settings) < len(given) or not tiny.keys() <= settings.keys():
            raise InvalidValue(
                f"study '{make.__name__}': after the cells, each argument needs a default, and tiny may only set those"
            )
        about = make.__doc__ or inspect.getmodule(make).__doc__ or ""
        file = pathlib.Path(inspect.getfile(make)).resolve()
        return Study(
            name or make.__name__,
            about.strip().partition("\n")[0],
            make,
            dict(tiny),
            also,
            file,
            settings,
            tables or {},
        )

    return decorate


def studies(folder: pathlib.Path | None = None, mentioning: str = "") -> dict[str, Study]:
    """All studies by name, of a folder or of the one with the panels; only those in files in which a text occurs."""
    found: dict[str, Study] = {}
    for file in sorted((folder or panels.folder()).glob("*.py")):
        if mentioning not in file.read_text(encoding="utf-8"):
            continue
        for each in studies_in(file):
            if each.name in found:
                raise InvalidValue(f"two studies are called '{each.name}': in {found[each.name].file} and in {file}")
            found[each.name] = each
    return found


def studies_in(file: pathlib.Path) -> list[Study]:
    """The studies that a file defines."""
    return [v for v in vars(load(file)).values() if isinstance(v, Study) and v.file == file.resolve()]


def find(name: str) -> Study:
    """A study by its name, or the only one of a file."""
    if name.endswith(".py"):
        own = studies_in(pathlib.Path(name))
        if len(own) != 1:
            raise InvalidValue(f"{name} defines {len(own)} studies; it must define one, with `@study(...)`")
        return own[0]
    known = studies(mentioning=name)  # not all: a study's imports take time
    if name not in known:
        known = studies()
        hint = (
            did_you_mean(name, list(known)) or f"; known: {', '.join(known) or 'none, which come with the repository'}"
        )
        raise InvalidValue(f"unknown study '{name}'{hint}")
    return known[name]
