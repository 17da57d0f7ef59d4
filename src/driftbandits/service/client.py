"""`driftbandits.Client`: a loop of a service with the methods of `Bandit`, so that code moves from one to the other by one line.

It needs only the standard library. Each thread keeps one connection alive. A call that got no answer, or a 503 or 429, is repeated.
Repeating is safe: a decision carries its id, so the service gives the same answer again, and a reward is learned only once.
"""

import http.client
import json
import math
import random
import secrets
import ssl
import threading
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..bandit.clock import moment
from ..bandit.decision import Decision, Features
from ..bandit.events import DriftEvent
from ..bandit.pending import AlreadyRewarded, NotActive, UnknownDecision
from ..bandit.store import StoreUnavailable, dumps
from ..errors import DriftBanditsError, InvalidState, InvalidValue, said

if TYPE_CHECKING:
    from ..bandit import looking
    from ..bandit.explanation import Explanation
    from ..bandit.health import Health
    from ..bandit.value import Value

KINDS: dict[str, type[DriftBanditsError]] = {
    "unknown_decision": UnknownDecision,
    "already_rewarded": AlreadyRewarded,
    "not_active": NotActive,
    "store_unavailable": StoreUnavailable,
}
AGAIN = (429, 502, 503, 504)


class Client:
    """A loop behind HTTP.

    Parameters
    ----------
    url
        Of the loop: "http://host:8080/loops/shop". Of the service alone, with `loop`.
    key
        None on loopback without keys.
    loop
        Its name, if it is not in `url`.
    timeout, patience
        Seconds until one attempt, and until all attempts together are given up.

    Examples
    --------
    >>> Client("http://127.0.0.1:8080/loops/shop")
    Client('http://127.0.0.1:8080/loops/shop')
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        loop: str | None = None,
        timeout: float = 10.0,
        patience: float = 30.0,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidValue(f"url = {said(url)} is not allowed; it must be like 'http://host:8080/loops/shop'")
        base = parts.path.rstrip("/")
        if loop is not None:
            base = f"{base}/loops/{urllib.parse.quote(loop, safe='')}"
        if "/loops/" not in base:
            raise InvalidValue(f"url = {said(url)} names no loop; it must end with /loops/NAME, or give loop='NAME'")
        self._https, self._host, self._port, self._base = parts.scheme == "https", parts.hostname, parts.port, base
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout, self._patience = timeout, patience
        self._thread = threading.local()

    def __repr__(self) -> str:
        where = f"{self._host}:{self._port}" if self._port else self._host
        return f"Client('http{'s' if self._https else ''}://{where}{self._base}')"

    # ------------------------------------------------------------------------------------------------------------ the wire

    def _connection(self) -> http.client.HTTPConnection:
        found: http.client.HTTPConnection | None = getattr(self._thread, "connection", None)
        if found is None:
            if self._https:
                context = ssl.create_default_context()
                found = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)
            else:
                found = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            self._thread.connection = found
        return found

    def _drop(self) -> None:
        found = getattr(self._thread, "connection", None)
        if found is not None:
            found.close()
            self._thread.connection = None

    def _call(self, method: str, path: str, body: Any = None, *, fresh: list[bool] | None = None) -> Any:
        """One call, repeated until it is answered; `fresh` gets False if more than one attempt may have arrived."""
        content = None if body is None else dumps(body).encode()
        end, pause, problem = time.monotonic() + self._patience, 0.05, "no answer"
        while True:
            try:
                connection = self._connection()
                connection.request(method, self._base + path, content, self._headers)
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
                if status not in AGAIN:
                    return self._read(status, text)
                problem = f"status {status}"
            except (OSError, http.client.HTTPException) as found:
                self._drop()
                problem = f"{type(found).__name__}: {found}"
            if fresh is not None:
                fresh[:] = [False]
            if time.monotonic() + pause > end:
                raise StoreUnavailable(f"{self!r} does not answer ({problem}); gave up after {self._patience:g} s")
            time.sleep(pause * (0.5 + random.random()))
            pause = min(2.0 * pause, 1.0)

    def _read(self, status: int, text: bytes) -> Any:
        try:
            answer = json.loads(text)
        except ValueError:
            raise InvalidState(f"{self!r} answered {status} without JSON; is it a driftbandits service?") from None
        if status < 400:
            return answer
        fault = answer.get("error", {}) if isinstance(answer, dict) else {}
        message = fault.get("message", f"status {status}")
        kind = KINDS.get(fault.get("code", ""), InvalidState if status in (401, 403, 404, 409) else InvalidValue)
        raise kind(message)

    def close(self) -> None:
        """Let the connection of this thread go."""
        self._drop()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------------------- as Bandit has it

    def decide(
        self,
        items: Any,
        context: Any = None,
        *,
        mask: Any = None,
        k: int = 1,
        id: str | None = None,  # noqa: A002
        defer: bool = False,
    ) -> Decision:
        """Choose one of the items on offer, or a ranking of k; as `Bandit.decide`."""
        asked = _asked(items, context, mask, k, id, defer)
        return _decision(asked, self._call("POST", "/decide", asked))

    def decide_batch(
        self, frame: Any, *, offers: Any = None, time: str | None = None, context: Sequence[str] | None = None
    ) -> Any:
        """One decision per row of a frame, which gets columns id, item and propensity; as `Bandit.decide_batch`.

        A list of dicts of the arguments of `decide`, without `offers`, gives a list of decisions. At most 1000 decisions are made in one
        transaction; the service has the time.
        """
        if offers is None:
            return self._decide_all(frame)
        if time is not None:
            raise InvalidValue(f"time = {said(time)} is not allowed; a service decides now, by its own clock")
        from .frames import decided, decisions_of

        table, asked = decisions_of(frame, offers, context)
        return decided(table, self._decide_all(asked))

    def _decide_all(self, asked: Sequence[Mapping[str, Any]]) -> list[Decision]:
        from .frames import pieces

        rows = [_asked(*(one.get(name, default) for name, default in DEFAULTS.items())) for one in asked]
        made: list[Decision] = []
        for piece in pieces(rows):
            answers = self._call("POST", "/decide_batch", piece)
            made += [_decision(*pair) for pair in zip(piece, answers, strict=True)]
        return made

    def reward(self, decision: Any, reward: Any, *, at: Any = None, weight: float = 1.0) -> None:
        """Learn the reward of a decision; as `Bandit.reward`. Repeating a call that got no answer is safe."""
        id_ = decision.id if isinstance(decision, Decision) else decision
        given = {"id": id_, "reward": reward, "at": None if at is None else moment(at), "weight": weight}
        fresh = [True]
        try:
            self._call("POST", "/reward", given, fresh=fresh)
        except AlreadyRewarded:
            if fresh[0]:
                raise  # else the first attempt arrived, and its answer was lost

    def reward_batch(self, frame: Any) -> Any:
        """Learn the rewards of a frame with columns id and reward (at, weight: if there are); returns how many were learned.

        Other than in `Bandit.reward_batch`, rows that are refused do not spoil the others: the first of them is raised when all others are
        learned. A list of dicts gives one result each, as the service answers.
        """
        from .frames import pieces, rewards_of

        listed = isinstance(frame, Sequence)
        rows, results, sure = list(frame) if listed else rewards_of(frame), [], []
        for piece in pieces(rows):
            fresh = [True]
            results += self._call("POST", "/reward_batch", piece, fresh=fresh)
            sure += fresh * len(piece)
        if listed:
            return results
        for n, (result, first) in enumerate(zip(results, sure, strict=True)):
            fault = result.get("error")
            if fault and (first or fault["code"] != "already_rewarded"):
                raise KINDS.get(fault["code"], InvalidValue)(f"row {n} of the frame: {fault['message']}")
        return sum(result["learned"] for result in results)

    def activate(self, decision: Any) -> None:
        """Say that a deferred decision was shown."""
        self._call("POST", "/activate", {"id": decision.id if isinstance(decision, Decision) else decision})

    def info(self) -> dict[str, Any]:
        """Quantities to monitor; as `Bandit.info`."""
        told: dict[str, Any] = self._call("GET", "")["info"]
        return told

    def drift_events(self) -> list[DriftEvent]:
        """When older data stopped predicting rewards."""
        events = self._call("GET", "/events")["events"]
        return [DriftEvent(*(event[name] for name in DriftEvent._fields)) for event in events]

    def explain(self, decision: Any) -> "Explanation":
        """Why an item was chosen; as `Bandit.explain`."""
        from .answers import explanation

        id_ = decision.id if isinstance(decision, Decision) else decision
        return explanation(self._call("GET", f"/explain/{urllib.parse.quote(str(id_), safe='')}"))

    def value(self, against: Any = "random", *, item: Any = None, alpha: float = 0.05) -> "Value":
        """What the loop earns, and what another policy would have; as `Bandit.value`."""
        from .answers import value

        asked = {"against": against, "alpha": alpha} | ({} if item is None else {"item": item})
        return value(self._call("GET", f"/value?{urllib.parse.urlencode(asked)}"))

    def health(self) -> "Health":
        """Whether the loop works, and what to do; as `Bandit.health`."""
        from ..bandit.health import Health

        return Health(**self._call("GET", "/health"))

    def importance(self, *, entries: bool = False) -> dict[str, float]:
        """Features and the mean size of their contributions over the last decisions, largest first; `entries` lists those of vectors."""
        found: dict[str, float] = self._call("GET", f"/importance?entries={'true' if entries else 'false'}")
        return found

    def estimate(self, items: Any, context: Any = None) -> "dict[Any, looking.Estimate]":
        """Mean and standard deviation of every item's reward; changes nothing."""
        from ..bandit.looking import Estimate

        offered = items if isinstance(items, Mapping) else list(items)
        told = self._call("POST", "/estimate", {"items": offered, "context": context})
        return {one["item"]: Estimate(one["mean"], math.nan if one["sd"] is None else one["sd"]) for one in told}

    if not TYPE_CHECKING:  # an editor and mypy must not take these for methods

        def __getattr__(self, name: str) -> Any:
            """Explain, for a method of `Bandit` that the service does not offer, why it is missing."""
            from ..bandit.bandit import Bandit

            if not name.startswith("_") and hasattr(Bandit, name):
                raise AttributeError(
                    f"{name} is not served: call it on the db.Bandit in the process that has the loop's file"
                )
            raise AttributeError(f"'Client' object has no attribute {name!r}")

    def create(self, **settings: Any) -> dict[str, Any]:
        """Make the loop, or change what can change; settings of `Bandit`, and reward_wait, default_reward, mode."""
        made: dict[str, Any] = self._call("PUT", "", settings)
        return made


DEFAULTS: dict[str, Any] = {"items": None, "context": None, "mask": None, "k": 1, "id": None, "defer": False}


def _asked(items: Any, context: Any, mask: Any, k: int, id_: str | None, defer: bool) -> dict[str, Any]:
    """The body of a decision. Its id is drawn here, so that a call that is repeated is the same decision."""
    if hasattr(items, "tolist"):
        raise InvalidValue("an array of items has no names; give a dict from names to features")
    offered = items if isinstance(items, Mapping) else list(items)
    excluded: list[Any] = []
    if mask is not None:
        allowed = mask if isinstance(mask, Mapping) else dict(zip(offered, mask, strict=True))
        excluded = [name for name in offered if not allowed.get(name, True)]
    asked = {"items": offered, "context": context, "k": k, "id": id_ or secrets.token_hex(16), "defer": defer}
    return asked | ({"exclude": excluded} if excluded else {})


def _decision(asked: Mapping[str, Any], answer: Mapping[str, Any]) -> Decision:
    import numpy as np

    names = [*asked["items"]]
    given = {str(name): p for name, p in answer["propensities"].items()}
    names = [name for name in names if str(name) in given] or [*given]
    p = np.array([given[str(name)] for name in names])
    items = answer["items"]
    rows = [asked["items"].get(item) if isinstance(asked["items"], Mapping) else None for item in items]
    unknown = np.full(len(names), np.nan)
    features = Features(rows, range(len(items)), asked["context"], True)
    return Decision(answer["id"], names, items, answer["propensity"], p, unknown, time.time(), 0, features)
