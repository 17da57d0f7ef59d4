"""Evaluations and feature importances: asked for, computed in the background, kept as notes of the loop."""

import hashlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...errors import DriftBanditsError
from ..catalogue import Catalogue
from ..problems import Problem
from .durations import now
from .wire import Job

LOG = logging.getLogger("driftbandits.service")
TIMEOUT = 3600.0  # seconds after which a job that did not end is given up: its process is gone
MOST = 1000  # jobs of a loop


class Jobs:
    """Jobs of one kind ("evaluation" or "importance"); one runs at a time."""

    def __init__(self, kind: str, catalogue: Catalogue) -> None:
        self.kind, self.catalogue = kind, catalogue
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=kind)

    def submit(self, loop: str, id_: str, asked: Job, work: Callable[[], dict[str, Any]]) -> None:
        """Begin; 409 if there is a job with this id."""
        if asked.endTime <= asked.startTime:
            raise Problem(422, "invalid", "endTime must be after startTime")
        if self.catalogue.note(loop, self._key(id_)) is not None:
            raise Problem(409, "exists", f"there is an {self.kind} {id_!r}; delete it first, or take another id")
        if len(self.catalogue.notes(loop, f"{self.kind}-")) >= MOST:
            raise Problem(409, "too_many", f"the loop has {MOST} jobs of this kind; delete some")
        head = {
            "id": id_,
            "name": asked.name,
            "startTime": asked.startTime.isoformat(),
            "endTime": asked.endTime.isoformat(),
            "creationTime": now(),
            "status": "Running",
            "began": time.time(),
        }
        self.catalogue.keep_note(loop, self._key(id_), head)
        self._pool.submit(self._run, loop, id_, head, work)

    def _run(self, loop: str, id_: str, head: dict[str, Any], work: Callable[[], dict[str, Any]]) -> None:
        try:
            done = {**head, **work(), "status": "Succeeded"}
        except DriftBanditsError as problem:
            done = {**head, "status": "Failed", "description": str(problem)}
        except Exception as problem:
            LOG.exception("a job failed: %s", type(problem).__name__)
            done = {**head, "status": "Failed", "description": f"{type(problem).__name__}: see the log of the service"}
        try:
            self.catalogue.keep_note(loop, self._key(id_), done)
        except DriftBanditsError:
            LOG.warning("the result of a job could not be kept; was the loop deleted?")

    def get(self, loop: str, id_: str) -> dict[str, Any]:
        """A job as it is now."""
        found = self.catalogue.note(loop, self._key(id_))
        if found is None:
            raise Problem(404, "unknown_job", f"there is no {self.kind} {id_!r}")
        return _told(found)

    def all(self, loop: str) -> list[dict[str, Any]]:
        """All jobs of a loop, the oldest first, without their results."""
        notes = [self.catalogue.note(loop, key) for key in self.catalogue.notes(loop, f"{self.kind}-")]
        told = [_told(note) for note in notes if note is not None]
        return sorted(
            ({k: v for k, v in job.items() if k in SUMMARY} for job in told), key=lambda j: str(j["creationTime"])
        )

    def delete(self, loop: str, id_: str) -> None:
        """Forget a job."""
        self.get(loop, id_)
        self.catalogue.keep_note(loop, self._key(id_), None)

    def _key(self, id_: str) -> str:
        if not 0 < len(id_) <= 200:
            raise Problem(422, "invalid", "an id of a job has 1 to 200 characters")
        digits = id_.encode().hex()  # a note's name is a file name, and may have 255 characters
        return f"{self.kind}-{digits if len(digits) <= 200 else hashlib.sha256(id_.encode()).hexdigest()}"

    def close(self) -> None:
        """Wait for the job that runs."""
        self._pool.shutdown(cancel_futures=True)


SUMMARY = ("id", "name", "startTime", "endTime", "creationTime", "status", "evaluationType", "optimalPolicy")


def _told(note: dict[str, Any]) -> dict[str, Any]:
    stale = note["status"] == "Running" and time.time() - note["began"] > TIMEOUT
    return {k: v for k, v in note.items() if k != "began"} | ({"status": "Timeout"} if stale else {})


# ------------------------------------------------------------------------------------------------------------- importances


def importances(found: dict[str, float]) -> dict[str, Any]:
    """Scores of features, the largest 100; a name with dots is a namespace and a feature."""
    most = max(found.values(), default=0.0) or 1.0
    scores = [
        {
            "namespace": name.partition(".")[0] if "." in name else "",
            "featureName": name.partition(".")[2] if "." in name else name,
            "score": 100.0 * size / most,
        }
        for name, size in found.items()
    ]
    return {"featureScores": scores}
