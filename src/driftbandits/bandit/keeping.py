"""Changes that are no decision and no reward: choices made elsewhere, decisions given up, items and features forgotten."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .adaptive import TooWide
from .changes import Before, Request, Rewarded
from .deciding import in_words
from .learner import Draft
from .pending import DEFERRED, DONE, Closed, Open
from .rewarding import Rewarding

if TYPE_CHECKING:
    from .challengers import Challenger


class Keeping(Rewarding):
    """A bandit that learns from choices made elsewhere, gives up, and forgets."""

    def _older_than(self, before: float) -> list[Open]:
        return [waiting for waiting in self._pending.open.values() if waiting.overdue(before)]

    def _expire(self, before: float, r: float | None) -> int:
        old = [(id_, waiting) for id_, waiting in self._pending.open.items() if waiting.overdue(before)]
        counts, observations, answers, entries, came = self._counts.copy(), [], [], [], []
        counts["expired"] += len(old)
        for id_, waiting in old:
            answer = DONE
            if r is not None and waiting.since != DEFERRED:  # what was never shown has earned nothing
                rewards = [r] * len(waiting.memos)
                observations += self._observations(waiting, rewards, 1.0, judge=True)
                counts["rewards"] += 1
                counts["late"] += waiting.tick < self._tick
                came.append(waiting.tick)
                entries += self._entries(waiting, rewards, None)
                answer = Closed(waiting, rewards, 1.0) if self._config["on_repeat"] == "replace" else DONE
            answers.append((id_, answer))
        if old:
            at = max(waiting.at for _, waiting in old)
            arrived = self._arrivals.arriving(came, self._tick)
            try:
                self._learn(Rewarded(observations, counts, answers, entries, at, arrived))
                self._tell(lambda challenger: _expire(challenger, old, r))
            except BaseException:
                if all(id_ not in self._pending.open for id_, _ in old):
                    self._tell(lambda challenger: _expire(challenger, old, r))
                raise
        return len(old)

    def _observe(self, request: Request, r: float, w: float) -> None:
        number, before = self._tick + 1, self._before()
        tick, after = request.at if self._clocked else float(number), self._after(request, number, "observed")
        draft = Draft(number)
        try:
            try:
                self._learner.observing(draft, request.offer, tick, r, w, self._pending.awaited)
            except TooWide:
                self._widen(draft)
                self._learner.observing(draft, request.offer, tick, r, w, self._pending.awaited)
            draft.make(draft)
            self._enter_observation(draft, request, r, w, after, before)
            self._tell(lambda challenger: challenger.observe(request, r, w, number))
        except BaseException as problem:
            if draft.done[0]:
                self._enter_observation(draft, request, r, w, after, before)
                self._tell(lambda challenger: challenger.observe(request, r, w, number))
            else:
                self._learner.undo(draft.kept)
            raise in_words(problem) from None

    def _enter_observation(
        self, draft: Draft, request: Request, r: float, w: float, after: dict[str, Any], before: Before
    ) -> None:
        observed = self._learner.observed(draft, r, w)
        self._learner.watch(draft, observed)
        self._arrivals.opened(after["_tick"], awaited=False)
        self.__dict__.update(after)
        self.__dict__.update(self._drifted(self._tested(draft, observed), request.at, before))

    def _drop(self, name: Any) -> None:
        answered = [(id_, done.open) for id_, done in self._pending.closed.items() if done.open is not None]
        known = [*self._pending.open.items(), *answered]  # what the item's sums no longer hold cannot be taken back
        gone = [(id_, open_.tick) for id_, open_ in known if any(memo.item == name for memo in open_.memos)]
        draft = Draft()
        self._learner.dropping(draft, name)
        try:
            draft.make(draft)
            self._enter_drop(name, gone)
        except BaseException:
            if draft.done[0]:
                self._enter_drop(name, gone)
            raise

    def _enter_drop(self, name: Any, gone: list[tuple[str, int]]) -> None:
        self._learner.dropped(name)
        self._pending.close([(id_, DONE) for id_, _ in gone])
        self._alarms.forget(name)
        self._arrivals.excused([tick for _, tick in gone])
        self._tell(lambda challenger: challenger.follow(lambda shadow: shadow._drop(name)))

    def _forget(self, name: str) -> None:
        """Each step twice is the same as once; once it has begun, an interrupt does not stop it."""
        try:
            self._enter_forget(name)
        except BaseException:
            self._enter_forget(name)
            raise

    def _enter_forget(self, name: str) -> None:
        self._learner.forget_feature(name)
        self._alarms.restart()
        self._tell(lambda challenger: challenger.follow(lambda shadow: shadow._forget(name)))


def _expire(challenger: "Challenger", old: Sequence[tuple[str, Open]], r: float | None) -> None:
    """What a challenger learns of decisions that are given up."""
    for id_, waiting in old:
        if r is None or waiting.since == DEFERRED:
            challenger.give_up(id_)
        else:
            challenger.reward(id_, [r] * len(waiting.memos), 1.0)
