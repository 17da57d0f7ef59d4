"""Run the suite for learners: one JSON per learner, with everything needed to identify the code and the worlds that were run."""

import datetime
import hashlib
import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any, Literal

from ..core.rooms import PACKAGE
from ..experiment.run.cells import library
from ..experiment.run.platforms import this_platform
from ..experiment.run.runner import Progress
from ..experiment.study import Cells
from ..experiment.study.source import code_digest
from ..io.cell_store import JsonStore
from ..io.files import write_atomically
from . import play, suite
from .entrants import Entrant, Setting, fixed_forgetting
from .submission import Part, summary
from .task import CannotPlay, Family, NotHere, Task

Track = Literal["untuned", "tuned"]
TRACKS: tuple[Track, ...] = ("untuned", "tuned")
DECIDES = (
    "suite",
    "task",
    "shapes",
    "bandit_worlds",
    "mdp_worlds",
    "real_worlds",
    "play",
)  # modules that a regret depends on


def suite_code() -> str:
    """Digest of the worlds and of how they are played."""
    files = [PACKAGE / "driftbench" / f"{name}.py" for name in DECIDES]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


class Runner:
    """Plays learners in worlds; finished cells are read from the store."""

    def __init__(
        self,
        cells: pathlib.Path,
        *,
        worlds: Sequence[str] | None = None,
        tiny: bool = False,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.store, self.tiny, self.jobs, self.progress = JsonStore(cells), tiny, jobs, progress
        self.worlds = [suite.find(name).name for name in worlds or suite.WORLDS]
        self._tasks: dict[str, Task] = {}
        self.missing = self._missing()

    def submit(self, learner: str, tracks: Sequence[Track] = TRACKS) -> dict[str, Any]:
        """Play a learner, and everything about it as one JSON object."""
        entrant = play.entrant_of(learner)
        with Cells(self.store, also=entrant.rooms, jobs=self.jobs, progress=self.progress) as cells:
            reference = self._reference(cells)
            found = {track: self._track(cells, learner, entrant, track, reference) for track in tracks}
        return self.identity(learner, tracks) | {"tracks": found}

    def identity(self, learner: str, tracks: Sequence[Track] = TRACKS) -> dict[str, Any]:
        """What a submission says beside its results: who played, by which code, where."""
        entrant = play.entrant_of(learner)
        options = [] if len(tracks) == len(TRACKS) else [f"--track {tracks[0]}"]
        if len(self.worlds) < len(suite.WORLDS):
            options += [f"--world {name}" for name in self.worlds]
        options += ["--tiny"] * self.tiny
        return {
            "suite": "driftbench",
            "version": suite.VERSION,
            "tiny": self.tiny,
            "learner": entrant.name,
            "role": entrant.role,
            "made_by": " ".join(["driftbandits bench-suite", learner, *options]),
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
            "library": library(entrant.rooms),
            "suite_code": suite_code(),
            "code": entrant.code,
            "platform": this_platform(),
            "draws": {split: suite.draws(split, self.tiny) for split in suite.DRAWS},
            "missing": self.missing,
        }

    def parts(self, tracks: Sequence[Track] = TRACKS) -> set[Part]:
        """The worlds that `submit` plays, track by track."""
        return {Part(track, name) for track in tracks for name in self._present()}

    def _missing(self) -> dict[str, str]:
        """The worlds that cannot be played on this machine, each with the reason."""
        missing = {}
        for name in self.worlds:
            try:
                self._task(name)
            except NotHere as problem:
                missing[name] = str(problem)
        return missing

    def _present(self) -> list[str]:
        return [name for name in self.worlds if name not in self.missing]

    def _reference(self, cells: Cells) -> dict[str, dict[str, list[float]]]:
        """Random play and the best fixed forgetting: frozen with the version, computed for a tiny run and for real streams."""
        frozen = {} if self.tiny else suite.reference()["worlds"]
        draws = suite.draws("judge", self.tiny)
        answer = {
            name: {key: frozen[name][key] for key in ("uniform", "fixed")} for name in self._present() if name in frozen
        }
        for name in self._present():
            if name not in answer:
                answer[name] = reference_of(cells, name, draws, self.tiny)
        return answer

    def _track(
        self, cells: Cells, learner: str, entrant: Entrant, track: Track, reference: dict[str, dict[str, list[float]]]
    ) -> dict[str, Any]:
        settings = self._tuned(cells, learner, entrant) if track == "tuned" else {}
        chosen = {name: settings.get(suite.WORLDS[name].family, {}) for name in self._present()}
        played = self._played(cells, learner, entrant, list(chosen.items()), suite.draws("judge", self.tiny))
        kept = {
            name: {"setting": dict(setting), **answer, **(reference[name] if "regret" in answer else {})}
            for (name, setting), answer in zip(chosen.items(), played, strict=True)
        }
        return summary(kept)

    def _tuned(self, cells: Cells, learner: str, entrant: Entrant) -> dict[Family, Setting]:
        """Of the untuned setting and at most eight others, the best of each family on the design draws."""
        if not entrant.settings:
            return {}
        settings: list[Setting] = [{}, *entrant.settings]
        names, design = self._present(), suite.draws("design", self.tiny)
        asked = [(name, setting) for name in names for setting in settings]
        answers = self._played(cells, learner, entrant, asked, design)
        chance = dict(zip(names, cells(play.uniform, [self._asked(name, design) for name in names]), strict=True))
        shares: dict[Family, list[list[float]]] = {}  # of every world of a family, that of each setting
        for i, name in enumerate(names):
            own = answers[i * len(settings) : (i + 1) * len(settings)]
            row = [1.0 - sum(each.get("regret", [math.inf])) / sum(chance[name]) for each in own]
            shares.setdefault(suite.WORLDS[name].family, []).append(row)
        totals = {family: [sum(column) for column in zip(*rows, strict=True)] for family, rows in shares.items()}
        return {family: settings[total.index(max(total))] for family, total in totals.items()}

    def _asked(self, name: str, draws: list[int]) -> dict[str, Any]:
        return {"world": name, "draws": draws, "tiny": self.tiny, "code": suite_code()}

    def _played(
        self, cells: Cells, learner: str, entrant: Entrant, asked: Sequence[tuple[str, Setting]], draws: list[int]
    ) -> list[dict[str, Any]]:
        """Regret of each draw in each of these worlds; or why the learner takes no part."""
        answers: list[dict[str, Any]] = []
        todo: list[tuple[int, dict[str, Any]]] = []
        for name, setting in asked:
            try:
                built = entrant.build(self._task(name), setting)
            except CannotPlay as problem:
                answers.append({"absent": str(problem)})
                continue
            # A strategy is identified by its parameters, a user's learner by its code.
            told = entrant.code or (repr(built) if entrant.kind == "strategy" else code_digest(type(built(0))))
            code = hashlib.sha256(f"{suite_code()} {told}".encode()).hexdigest()[:16]
            todo.append(
                (len(answers), self._asked(name, draws) | {"learner": learner, "setting": dict(setting), "code": code})
            )
            answers.append({})
        for (place, _), found in zip(todo, cells(play.play, [cell for _, cell in todo]), strict=True):
            answers[place] = found
        return answers

    def _task(self, name: str) -> Task:
        if name not in self._tasks:
            self._tasks[name] = suite.drawn(name, 0, self.tiny).task
        return self._tasks[name]


def reference_of(cells: Cells, name: str, draws: list[int], tiny: bool) -> dict[str, list[float]]:
    """Regret of random play, and of the best fixed forgetting in hindsight, in each draw."""
    same = {"world": name, "draws": draws, "tiny": tiny, "code": suite_code()}
    uniform = cells(play.uniform, [same])[0]
    count = 2 if tiny else len(fixed_forgetting(suite.drawn(name, draws[0], tiny).task))
    tried = cells(play.fixed, [{**same, "number": i} for i in range(count)])
    return {"uniform": uniform, "fixed": min(tried, key=sum)}


def freeze(cells: pathlib.Path, jobs: int | None = None, progress: Progress | None = None) -> None:
    """Write `reference.json`: once, when a version is made. Real streams are left out: their files are not ours to vouch for."""
    worlds: dict[str, Any] = {}
    every = suite.draws("judge") + suite.draws("design")
    with Cells(JsonStore(cells), jobs=jobs, progress=progress) as asked:
        for name, world in suite.WORLDS.items():
            if world.family != "real":
                found = reference_of(asked, name, suite.draws("judge"), False)
                worlds[name] = {"best": [suite.drawn(name, draw).best() for draw in every], **found}
    content = {"version": suite.VERSION, "library": library(), "platform": this_platform(), "worlds": worlds}
    write_atomically(suite.REFERENCE, json.dumps(content, indent=1) + "\n")
