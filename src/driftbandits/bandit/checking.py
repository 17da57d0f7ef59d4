"""Validation of the arguments of a call; nothing is changed.

Every change of a bandit is checked whole before it is made: `_request` reads items and context, `_answer` a reward, `_observation` a choice
that was made elsewhere. What they return needs no further check (`core`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidValue, integer, real, said
from .changes import Answer, Request, shown
from .clock import moment
from .decision import Decision
from .keeping import Keeping
from .logged import Logged, read_logged
from .offers import as_items, as_matrix, as_name, in_order, in_rows, listed, masked
from .pending import DEFERRED, Closed, NotActive, Open
from .rewards import as_reward, as_weight, check_size
from .transformers import Transformer, transformed
from .vectors import Row, as_row


class Checking(Keeping):
    """The part of `Bandit` that validates requests."""

    def _request(self, items: Any, context: Any, at: Any, mask: Any, k: Any, named: bool = True) -> Request:
        """Check a decision that is asked for; changes nothing. Rows of an array have no names."""
        row = context if context is None or type(context) is dict else as_row(context, "features of the context")
        plain = mask is None and self._function is None
        known = listed(items) if plain else None
        rows: Sequence[Row] | None = as_matrix(items) if plain and known is None else None
        names: list[Any]
        if known is not None:
            names, rows, first = known
        elif rows is not None:
            named, names, first = named and not rows, [*range(len(rows))], None
        else:
            given = as_items(items) if mask is None else masked(as_items(items), mask)
            names, first = in_order(given), next(iter(given))
            if self._function is None:
                rows = in_rows(names, given)
            else:
                rows, row = self._call(names, given, context), None
        if type(k) is not int or k != 1:
            k = integer("k", k, least=1, why="it is the length of the ranking")
        if k > 1 and not self._learner.ranks:
            raise InvalidValue(
                f"k = {k} is not allowed; {type(self._learner).__name__} needs the same items on offer each time it chooses"
            )
        if k > len(names):
            raise InvalidValue(f"k = {said(k)} is not allowed; it must be ≤ {len(names)}, the number of items on offer")
        when = moment(at)
        offer = self._learner.read(names, rows, row, named=named)
        return Request(names, rows, row, offer, when, at is not None, k, first)

    def _call(self, names: Sequence[Any], given: Mapping[Any, Any], context: Any) -> Sequence[Row]:
        """Rows that the user's function or transformer makes of items and context."""
        made = self._function
        if isinstance(made, Transformer):
            return transformed(made, names, [given[name] for name in names], context)
        assert made is not None
        rows = {name: made(name if given[name] is None else given[name], context) for name in names}
        return in_rows(names, rows)

    def _answer(self, decision: Any, reward: Any, at: Any, weight: Any) -> Answer:
        """Check a reward; changes nothing."""
        came = None if at is None else moment(at)
        w = 1.0 if type(weight) is float and weight == 1.0 else as_weight(weight)
        id_, found = self._find(decision)
        if isinstance(found, Open) and found.since == DEFERRED:
            raise NotActive(
                f"decision {said(id_)} was deferred; call activate when it is shown, and then give its reward"
            )
        rewards = [] if found is None else self._rewards(reward, shown(found))
        if found is not None and not self._learner.takes_all:
            self._check_reward(found, rewards, w)
        opened = found.open if isinstance(found, Closed) else found
        learns = not isinstance(opened, Open) or opened.learn
        if learns and w != 0.0:
            self._check_size(rewards)
        return Answer(id_, found, rewards, w, came, learns)

    def _check_size(self, rewards: Sequence[float]) -> None:
        """Refuse rewards beside which nothing would be left of the others."""
        largest = self._learner.largest_reward
        for r in rewards:
            check_size(r, largest)

    def _find(self, decision: Any) -> tuple[str, Open | Closed | Logged | None]:
        """A decision that waits, one that has been answered, or one that only a log has; changes nothing."""
        if isinstance(decision, Decision):
            decision = decision.id
        waiting = self._pending.open.get(decision) if type(decision) is str else None
        if waiting is not None:
            return decision, waiting
        repeat = self._config["on_repeat"]
        if isinstance(decision, str) or not isinstance(decision, Mapping):
            waits = not isinstance(decision, str) or decision in self._pending.open
            answered = not waits and self._known_as_answered(decision)
            return decision, self._pending.find(decision, repeat, answered=answered)
        logged = read_logged(decision, self._learner)
        answered = self._known_as_answered(logged.id)
        if answered or logged.id in self._pending.open:
            return logged.id, self._pending.find(logged.id, repeat, answered=answered)
        return logged.id, logged

    def _known_as_answered(self, id_: str) -> bool:
        """Whether a decision has had its reward, as far as this bandit remembers."""
        return id_ in self._pending.closed

    def _rewards(self, reward: Any, shown: list[Any]) -> list[float]:
        """One number per item shown, NaN where there is none."""
        if type(reward) in (float, int) or not isinstance(reward, Mapping):
            return [as_reward(self._config["reward"], reward)] * len(shown)
        for name in reward:
            if name not in shown:
                raise InvalidValue(
                    f"a reward for {said(name)}, which was not shown; the decision showed {', '.join(map(repr, shown))}"
                )
        return [as_reward(self._config["reward"], reward[name]) if name in reward else math.nan for name in shown]

    def _observation(
        self, item: Any, context: Any, reward: Any, at: Any, propensity: Any, weight: Any, name: Any
    ) -> tuple[Request, float, float]:
        """Check a choice made elsewhere; changes nothing."""
        r, w = as_reward(self._config["reward"], reward), as_weight(weight)
        if w != 0.0:
            self._check_size([r])
        if propensity is not None and not 0.0 < real("propensity", propensity) <= 1.0:
            raise InvalidValue(
                f"propensity = {said(propensity)} is not allowed; it must be in (0, 1]: it is a probability"
            )
        if isinstance(item, str | int) and not isinstance(item, bool):
            name, item = item, None
        elif name is None and self._config["features"] in ("disjoint", "hybrid"):
            raise InvalidValue(
                f"observe needs name=…: with features={self._config['features']!r} each item has a model of its own"
            )
        named = name is not None or item is None
        request = self._request({"" if name is None else as_name(name): item}, context, at, None, 1, named)
        if w != 0.0:
            self._learner.accepts([None], [r], w)
        return request, r, w
