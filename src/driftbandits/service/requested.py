"""Decisions and rewards of requests, made with the bandit of a loop.

A request is checked against the offer here. An error of one decision ends a batch of decisions before anything is kept; an error of one
reward is the answer to that reward alone. Errors of the store (status 500 and above) always end the whole transaction.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from ..bandit.bulk.requests import RefusedAt
from ..bandit.changes import Wanted
from ..bandit.decision import Decision
from ..bandit.pending import AlreadyRewarded
from ..bandit.stored import StoredBandit
from ..errors import DriftBanditsError
from .models import Decide, Reward
from .problems import Problem, status_of
from .settings import LoopSettings


def _offered(asked: Decide) -> Any:
    """Items without those excluded."""
    items = asked.items
    if not asked.exclude:
        return items
    excluded = {*asked.exclude}
    strange = next((name for name in asked.exclude if name not in items), None)
    if strange is not None:
        raise Problem(422, "invalid", f"exclude names {strange!r}, which is not on offer")
    left: Any = [name for name in items if name not in excluded]
    if not left:
        raise Problem(422, "invalid", "exclude leaves no item; at least one must be left to choose")
    return {name: items[name] for name in left} if isinstance(items, dict) else left


def wanted(asked: Decide, settings: LoopSettings) -> Wanted:
    """What the bandit is asked for; unless the mode is "online", the first items are shown, and only an apprentice learns from them."""
    items = _offered(asked)
    if settings.mode == "online":
        return Wanted(items, asked.context, None, asked.k, asked.id, asked.defer)
    first = [*items][: max(asked.k, 1)]  # as they were given
    if asked.k > len(first):
        raise Problem(
            422, "invalid", f"k = {asked.k} is not allowed; it must be ≤ {len(first)}, the number of items on offer"
        )
    learn = settings.mode == "apprentice"
    return Wanted(items, asked.context, None, 1, asked.id, asked.defer, first, learn)


class Deciding:
    """The change that decides all that one request asks for, or nothing."""

    def __init__(self, asked: Sequence[Decide], settings: LoopSettings) -> None:
        self.asked, self.settings = asked, settings

    def __call__(self, bandit: StoredBandit) -> list[Decision]:
        """Decide."""
        if len(self.asked) == 1:
            return [bandit.decide(**wanted(self.asked[0], self.settings)._asdict())]
        return decide_all(bandit, self.asked, self.settings)

    @staticmethod
    def all_at_once(bandit: StoredBandit, changes: "Sequence[Deciding]") -> list[list[Decision]] | None:
        """What several requests ask for, by one call of the bandit; None, and nothing changed, if that is not possible."""
        try:
            all_ = [wanted(one, change.settings) for change in changes for one in change.asked]
        except Problem:
            return None
        made = bandit.decide_at_once(all_)
        if made is None:
            return None
        left = iter(made)
        return [[*islice(left, len(change.asked))] for change in changes]


def decide_all(bandit: StoredBandit, asked: Sequence[Decide], settings: LoopSettings) -> list[Decision]:
    """Make all decisions in one transaction, or none; the error names the first that is refused."""
    all_: list[Wanted] = []
    refusal: RefusedAt | None = None
    for place, one in enumerate(asked):
        try:
            all_.append(wanted(one, settings))
        except Problem as problem:  # an earlier one may be refused by the bandit, and is then the first
            refusal = RefusedAt(place, problem)
            break
    try:
        with bandit.transaction():
            made = bandit.decide_many(all_)
            if refusal is not None:
                raise refusal
            return made
    except RefusedAt as refused:
        status, code = status_of(refused.problem)
        if status >= 500:
            raise refused.problem from None
        raise Problem(status, code, f"decision {refused.place} of the batch: {refused.problem}") from None


def decide_in_turn(bandit: StoredBandit, asked: Sequence[Decide], settings: LoopSettings) -> list[Decision]:
    """Decide one after the other in one transaction; an item that one decision shows is not on offer in the next."""
    made: list[Decision] = []
    with bandit.transaction():
        for one in asked:
            shown = {decision.item for decision in made}
            exclude = [name for name in one.exclude if name not in shown]
            items: Any = [name for name in one.items if name not in shown]
            if isinstance(one.items, dict):
                items = {name: features for name, features in one.items.items() if name not in shown}
            if not items:
                raise Problem(422, "invalid", f"{len(asked)} places are to be filled, and there are too few items")
            next_ = one.model_copy(update={"items": items, "exclude": exclude})
            made.append(bandit.decide(**wanted(next_, settings)._asdict()))
    return made


def reward_all(
    bandit: StoredBandit, given: Sequence[Reward], check: Callable[[StoredBandit, str], None]
) -> list[bool | DriftBanditsError]:
    """Learn rewards in one transaction: for each, whether it was learned, or the error that refused it. `check` may refuse one first."""
    learned: list[bool | DriftBanditsError] = []
    with bandit.transaction():
        for one in given:
            try:
                check(bandit, one.id)
                answer = bandit.checked(one.id, one.reward, at=one.at, weight=one.weight)
            except DriftBanditsError as problem:
                if status_of(problem)[0] >= 500:
                    raise
                learned.append(problem)
                continue
            try:
                learned.append(bandit.take(answer))
            except AlreadyRewarded as problem:  # of a follower: nothing was written
                learned.append(problem)
    return learned
