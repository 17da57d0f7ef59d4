"""A submission: the results of one learner as one JSON object, with everything needed to identify what was run.

A file of a learner grows: a run of other worlds or of the other track is joined to what the file has, if learner, library and suite are the
same. A run that would remove worlds from a file (another code, a smoke test) is refused before anything is played.
"""

import json
import pathlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import InvalidValue
from ..io.files import make_folder, write_atomically
from .scores import standing
from .suite import WORLDS

SAME = (
    "suite",
    "version",
    "tiny",
    "learner",
    "library",
    "suite_code",
    "code",
)  # equal in submissions that may be joined


class Part(NamedTuple):
    """One world of one track."""

    track: str
    world: str


def summary(worlds: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A track: its worlds in the suite's order, and their scores."""
    ordered = {name: dict(worlds[name]) for name in WORLDS if name in worlds}
    found = standing(ordered)
    return {
        "worlds": ordered,
        "families": {
            family: {"score": score, "over_best_fixed": found.over_fixed[family]}
            for family, score in found.families.items()
        },
        "overall": found.overall,
        "at_ceiling": found.at_ceiling,
    }


def parts(submission: Mapping[str, Any]) -> set[Part]:
    """The worlds of a submission, track by track."""
    return {Part(track, world) for track, kept in submission["tracks"].items() for world in kept["worlds"]}


def there(folder: pathlib.Path, identity: Mapping[str, Any], asked: Iterable[Part]) -> dict[str, Any] | None:
    """The submission that a new one is joined to; None if there is none, or the new one replaces it.

    Raises
    ------
    InvalidValue
        The file in the new one's place has worlds that would be lost.
    """
    file = place(folder, identity)
    if not file.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        kept, tiny = parts(found), found["tiny"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidValue(
            f"{file} exists and is no submission to DriftBench; move it, or give another --out"
        ) from None
    if identity["tiny"] and not tiny:
        raise InvalidValue(f"{file} is of a full run, which --tiny must not replace; give another --out")
    if tiny and not identity["tiny"]:
        return None
    if all(found.get(key) == identity[key] for key in SAME):
        return found
    lost = sorted(kept - set(asked))
    if lost:
        differs = next(key for key in SAME if found.get(key) != identity[key])
        what = {"code": "another code of the learner", "library": "another version of the library"}.get(
            differs, differs
        )
        raise InvalidValue(
            f"{file} has results of {what} in {len(lost)} worlds that would be lost ({lost[0].world}, {lost[0].track} …); "
            "play all worlds and both tracks, or give another --out"
        )
    if found.get("code") != identity["code"]:
        warnings.warn(f"{file} was of other code, and is replaced", UserWarning, stacklevel=2)
    return None


def place(folder: pathlib.Path, identity: Mapping[str, Any]) -> pathlib.Path:
    """`FOLDER/NAME.json`."""
    return folder / f"{identity['learner']}.json"


def joined(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The worlds of both, track by track; where both have one, the newer."""
    tracks = {}
    for track in sorted({*old["tracks"], *new["tracks"]}, reverse=True):  # untuned, tuned
        worlds = [each["tracks"][track]["worlds"] for each in (old, new) if track in each["tracks"]]
        tracks[track] = summary({name: kept for of in worlds for name, kept in of.items()})
    missing = {**old["missing"], **new["missing"]}
    made_by = [*old["made_by"].split("; "), *([new["made_by"]] if new["made_by"] not in old["made_by"] else [])]
    return {
        **new,
        "made_by": "; ".join(made_by),
        "missing": {
            name: why for name, why in missing.items() if not any(name in t["worlds"] for t in tracks.values())
        },
        "tracks": tracks,
    }


def write(folder: pathlib.Path, submission: Mapping[str, Any]) -> pathlib.Path:
    """The submission as `FOLDER/NAME.json`, joined to the one that is there."""
    old = there(folder, submission, parts(submission))
    whole = joined(old, submission) if old else submission
    make_folder(folder)
    file = place(folder, submission)
    write_atomically(file, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    return file
