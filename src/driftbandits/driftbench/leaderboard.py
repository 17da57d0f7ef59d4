"""Many submissions as one offline page, sortable, and as tables in LaTeX and Markdown.

Scores are computed anew from the regrets in the files, so that a page never shows a score that its file claims but does not support.
"""

import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import CannotRead, InvalidValue
from ..experiment.study import table
from ..io.files import make_folder, write_atomically
from ..plots.latex import escaped, minus, tabular
from .run import TRACKS, Track
from .scores import BANDITS, Score, Standing, standing
from .suite import CEILING, DRAWS, FAMILIES, SECONDS, SETTINGS, VERSION, WORLDS, reference
from .task import Family

NOT_PLAYED = "not played"
MDPS: tuple[Family, ...] = ("mdp", "logit")
OVER_BUDGET = "s of CPU for one draw"  # what `play` says of a learner that it has stopped
TEMPLATE = pathlib.Path(__file__).with_name("templates") / "leaderboard.html"


class Row(NamedTuple):
    """One learner in one track."""

    learner: str
    role: str
    standing: Standing
    tuned: bool  # whether it had something to tune
    absent: dict[str, str]  # worlds in which it took no part, and why


def read(folder: pathlib.Path) -> list[dict[str, Any]]:
    """All submissions of a folder; a file that is none, or of another version, is refused by name."""
    if not folder.is_dir():
        raise CannotRead(f"{folder} is no folder; give the one to which bench-suite wrote its JSON files")
    found, files = [], list[pathlib.Path]()
    for file in sorted(folder.glob("*.json")):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            _check(content)
        except KeyError as problem:
            raise CannotRead(f"{file} is no submission to DriftBench: it has no {problem}") from None
        except (ValueError, TypeError, AttributeError) as problem:
            raise CannotRead(f"{file} is no submission to DriftBench: {problem}") from None
        found.append(content)
        files.append(file)
    if not found:
        raise CannotRead(f"{folder} has no *.json; `driftbandits bench-suite LEARNER --out {folder}` makes one")
    first: dict[str, pathlib.Path] = {}
    for content, file in zip(found, files, strict=True):
        other = first.setdefault(content["learner"], file)
        if other is not file:
            raise InvalidValue(f"{other} and {file} are both of {content['learner']}; each learner has one file")
    smoke = [file for content, file in zip(found, files, strict=True) if content["tiny"]]
    if 0 < len(smoke) < len(files):
        raise InvalidValue(f"{smoke[0]} is of a --tiny run, others are of full ones; their scores cannot be compared")
    return found


def _check(content: Mapping[str, Any]) -> None:
    """Raise unless this is a submission to this version, with finite regrets for all draws and the references of this version."""
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}, not an object")
    if content["suite"] != "driftbench" or content["version"] != VERSION:
        raise ValueError(f"it is of {content['suite']} {content['version']}, this is driftbench {VERSION}")
    for text in ("learner", "role", "library", "date"):
        if not isinstance(content[text], str):
            raise ValueError(f"{text} must be a text")
    count = len(content["draws"]["judge"])
    if not content["tiny"] and count != DRAWS["judge"]:
        raise ValueError(f"it has {count} draws, the suite {DRAWS['judge']}")
    for track, kept in content["tracks"].items():
        for name, world in kept["worlds"].items():
            if track not in TRACKS or name not in WORLDS:
                raise ValueError(f"there is no {track} / {name}")
            numbers = [np.array(world[key], float) for key in ("regret", "uniform", "fixed") if key in world]
            if any(each.shape != (count,) or not np.isfinite(each).all() for each in numbers):
                raise ValueError(f"{name}: regrets must be {count} finite numbers")
            if "regret" in world and not content["tiny"]:
                _check_reference(name, world)


def _check_reference(name: str, world: Mapping[str, Any]) -> None:
    """Scores are relative to random play and the best fixed forgetting, which are frozen but for real streams."""
    frozen = reference()["worlds"].get(name)
    for key in ("uniform", "fixed") if frozen else ():
        if not np.allclose(np.array(world[key], float), frozen[key], rtol=1e-6, atol=0.0):
            raise ValueError(f"{name}: '{key}' is not what this version of the suite has frozen")


def rows(submissions: Sequence[Mapping[str, Any]], track: Track) -> list[Row]:
    """All learners of a track, the best first; without an overall score, after those that have one."""
    found = []
    for each in submissions:
        if track not in each["tracks"]:
            continue
        kept = each["tracks"][track]["worlds"]
        tuned = any(world.get("setting") for world in kept.values())
        absent = {name: world["absent"] for name, world in kept.items() if "absent" in world}
        found.append(Row(each["learner"], each["role"], standing(kept), tuned, absent))
    return sorted(found, key=_order)


def no_score(row: Row, family: Family) -> str:
    """Why a learner has no score in a family: it takes no part in such worlds (–), was stopped, or has not been played in all of them.

    A file with no MDP at all is of a learner for bandits, and the other way round.
    """
    names = [name for name, world in WORLDS.items() if world.family == family]
    if any(OVER_BUDGET in row.absent.get(name, "") for name in names):
        return f"> {SECONDS:.0f} s"
    kind = {name for name, world in WORLDS.items() if (world.family in MDPS) == (family in MDPS)}
    there = {*row.absent, *row.standing.worlds}
    return "–" if there >= set(names) or not there & kind else NOT_PLAYED


def _order(row: Row) -> tuple[bool, float, str]:
    overall = row.standing.overall
    families = row.standing.families.values()
    best = overall.value if overall else max((score.value for score in families), default=-np.inf)
    return overall is None, -best, row.learner


def over_all_fixed(row: Row) -> Score | None:
    """Regret over the best fixed γ, the geometric mean of the five bandit families."""
    found = [row.standing.over_fixed.get(family) for family in BANDITS]
    known = [score for score in found if score is not None and np.isfinite(score.value)]
    if len(known) < len(BANDITS):
        return None
    value = float(np.exp(np.mean([np.log(score.value) for score in known])))
    relative = np.sqrt(sum((score.error / score.value) ** 2 for score in known)) / len(known)
    return Score(value, float(value * relative))


def write(folder: pathlib.Path, out: pathlib.Path | None = None) -> list[pathlib.Path]:
    """`leaderboard.html`, and per track a table in LaTeX and one in Markdown, from the submissions in a folder."""
    submissions = read(folder)
    to = out or folder
    make_folder(to)
    files = [to / "leaderboard.html"]
    write_atomically(files[0], page(submissions))
    for track in TRACKS:
        if any(track in each["tracks"] for each in submissions):
            for ending, write_table in (("tex", latex), ("md", markdown)):
                files.append(to / f"leaderboard-{track}.{ending}")
                write_atomically(files[-1], write_table(submissions, track))
    return files


# ---------------------------------------------------------------------------------------------------------------------- page


def page(submissions: Sequence[Mapping[str, Any]]) -> str:
    """One HTML file that works offline."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATE.parent, TEMPLATE.parents[2] / "plots" / "templates"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tracks = {track: rows(submissions, track) for track in TRACKS}
    played = [name for name in WORLDS if any(name in r.standing.worlds for found in tracks.values() for r in found)]
    return environment.get_template(TEMPLATE.name).render(
        version=VERSION,
        tiny=any(each["tiny"] for each in submissions),
        tracks={track: found for track, found in tracks.items() if found},
        families=[family for family in FAMILIES if any(WORLDS[name].family == family for name in played)],
        worlds=[WORLDS[name] for name in played],
        ceiling=CEILING,
        settings=SETTINGS,
        draws=DRAWS,
        over=over_all_fixed,
        told=told,
        no_score=no_score,
        seconds=SECONDS,
        submissions=submissions,
        roles=sorted({each["role"] for each in submissions}),
    )


def told(score: Score | None, digits: int = 3) -> str:
    """A number with its error, or a dash."""
    if score is None or not np.isfinite(score.value):
        return "–"
    error = f" ± {_short(score.error, digits)}" if np.isfinite(score.error) else ""
    return _short(score.value, digits if abs(score.value) < 1 else 2) + error


def _short(number: float, digits: int) -> str:
    """Rounded, without the 0 before the point and without the minus of a zero."""
    text = f"{round(number, digits) + 0.0:.{digits}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text)


# --------------------------------------------------------------------------------------------------------------------- LaTeX


def latex(submissions: Sequence[Mapping[str, Any]], track: Track) -> str:
    """A table in the style of booktabs: learners × families, the best of each column in bold."""
    head, found = _columns(submissions, track)
    body = [[escaped(learner), *(_tex(cell) for cell in cells)] for learner, cells in found]
    head = ["over best $\\gamma$" if name == OVER else name for name in head]
    return tabular(["learner", *head], body, comment=f"DriftBench v{VERSION}, {track} track", size="scriptsize")


def markdown(submissions: Sequence[Mapping[str, Any]], track: Track) -> str:
    """The same in Markdown."""
    head, found = _columns(submissions, track)
    return table(["learner", *head], [[f"`{learner}`", *(_marked(cell) for cell in cells)] for learner, cells in found])


class Cell(NamedTuple):
    """A score to print; if there is none, why."""

    score: Score | None
    best: bool
    digits: int
    why: str


OVER = "over best γ"


def _columns(submissions: Sequence[Mapping[str, Any]], track: Track) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """The headings, and of every learner its cells: overall, families, regret over the best γ; the best of each column is marked."""
    found = rows(submissions, track)
    families: list[Family] = [f for f in FAMILIES if any(f in row.standing.families for row in found)]
    columns = [
        [row.standing.overall for row in found],
        *([row.standing.families.get(f) for row in found] for f in families),
    ]
    columns.append([over_all_fixed(row) for row in found])
    cells = []
    for i, column in enumerate(columns):
        last = i == len(columns) - 1
        values = [score.value for score in column if score is not None and np.isfinite(score.value)]
        best = (min if last else max)(values, default=np.nan)
        whys = [no_score(row, families[i - 1]) if 0 < i <= len(families) else "–" for row in found]
        cells.append(
            [
                Cell(s, s is not None and s.value == best, 2 if last else 3, why)
                for s, why in zip(column, whys, strict=True)
            ]
        )
    head = ["overall", *families, OVER]
    return head, [(row.learner, [column[i] for column in cells]) for i, row in enumerate(found)]


def _tex(cell: Cell) -> str:
    score = cell.score
    if score is None or not np.isfinite(score.value):
        return escaped(cell.why)
    number = minus(_short(score.value, cell.digits))
    error = f"{{\\tiny$\\pm${_short(score.error, cell.digits)}}}" if np.isfinite(score.error) else ""
    return (f"\\textbf{{{number}}}" if cell.best else number) + error


def _marked(cell: Cell) -> str:
    text = cell.why if cell.score is None else told(cell.score, cell.digits)
    return f"**{text}**" if cell.best else text
