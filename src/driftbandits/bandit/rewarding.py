"""What happens when a reward is learned, once it has been checked."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .alarms import Found
from .changes import Before, Rewarded
from .deciding import Deciding, in_words
from .learner import Draft, Memo, Observation
from .ledger import Entry
from .logged import Logged
from .pending import DONE, Closed, Open

if TYPE_CHECKING:
    from .challengers import Challenger


class Rewarding(Deciding):
    """A bandit that learns from rewards of its decisions."""

    def _answered(self, id_: str, found: Open | Closed | Logged, rewards: list[float], w: float) -> None:
        """Learn the reward of a decision that waits, has been answered, or is only in a log: then as if it waited here."""
        if not isinstance(found, Logged):
            self._reward(id_, found, rewards, w)
            return
        learner, tick = self._learner, self._tick
        kept = learner.keep(arrays=True)
        try:
            self._tick = max(tick, found.tick)
            placed = self._place(found.offer)
            memos = [self._learner.memo(placed, a) for a in range(len(found.offer.names))]
            self._reward(id_, Open(found.tick, found.at, memos), rewards, w)
        except BaseException:
            if id_ not in self._pending.closed:
                learner.undo(kept)
                self._tick = tick
            raise

    def _reward(self, id_: str, found: Open | Closed, rewards: list[float], w: float) -> None:
        opened, old = (found, None) if isinstance(found, Open) else (found.open, found)
        assert opened is not None
        observations = self._observations(opened, rewards, w, judge=old is None)
        counts, arrived = self._counts.copy(), None
        if old is not None:
            observations = [*self._observations(opened, old.rewards, -old.weight, judge=False), *observations]
            counts["replaced"] += 1
        else:
            counts["rewards"] += 1
            counts["late"] += opened.tick < self._tick
            arrived = self._arrivals.arriving([opened.tick], self._tick)
        answer = Closed(opened, rewards, w) if self._config["on_repeat"] == "replace" else DONE
        entries = self._entries(opened, rewards, old)
        change = Rewarded(observations, counts, ((id_, answer),), entries, opened.at, arrived)
        if not self._challengers:
            self._learn(change)
            return
        try:
            self._learn(change)
            self._tell(lambda challenger: challenger.reward(id_, rewards, w))
        except BaseException:
            if self._pending.closed.get(id_) is answer:  # learned, though interrupted
                self._tell(lambda challenger: challenger.reward(id_, rewards, w))
            raise

    def _entries(self, opened: Open, rewards: Sequence[float], old: Closed | None) -> list[Entry]:
        """What the first item shown earned, in place of what it was said to have earned before."""
        law, entries = opened.law, []
        if law is not None and old is not None and old.rewards[0] == old.rewards[0]:
            entries.append(Entry(law, old.rewards[0], opened.at, -1.0, opened.tick))
        if law is not None and rewards[0] == rewards[0]:
            entries.append(Entry(law, rewards[0], opened.at, 1.0, opened.tick))
        return entries

    def _observations(self, opened: Open, rewards: Sequence[float], w: float, *, judge: bool) -> list[Observation]:
        """What there is to learn of a decision: nothing where the weight is 0, or where an item had no reward."""
        if not opened.learn:
            return []
        tick = opened.at if self._clocked else float(opened.tick)
        if len(rewards) == 1 and w != 0.0 and rewards[0] == rewards[0]:
            return [Observation(opened.memos[0], tick, rewards[0], w, judge)]
        known = zip(opened.memos, rewards, strict=True) if w != 0.0 else ()
        return [Observation(memo, tick, r, w, judge) for memo, r in known if r == r]

    def _learn(self, change: Rewarded) -> None:
        """Learn rewards, and note that decisions were answered."""
        before = self._before()
        draft = Draft() if change.observations else None
        try:
            if draft is not None:
                self._learner.learning(draft, change.observations, self._pending.awaited)
                draft.make(draft)
            self._enter_rewards(draft, change, before)
        except BaseException as problem:
            if draft is None or draft.done[0]:
                self._enter_rewards(draft, change, before)
            else:
                self._learner.undo(draft.kept)
            raise in_words(problem) from None

    def _enter_rewards(self, draft: Draft | None, change: Rewarded, before: Before) -> None:
        found: Sequence[Found] = ()
        if draft is not None:
            self._learner.watch(draft, change.observations)
            found = self._tested(draft, change.observations)
        self._pending.close(change.answers)
        if change.arrived is not None:
            self._arrivals.enter(change.arrived)
        self._ledger.enter(before.ledger, change.entries)
        if found:
            self.__dict__.update(self._drifted(found, change.at, before))
        self._counts = change.counts

    def _check_reward(self, found: Open | Closed | Logged, rewards: Sequence[float], w: float) -> None:
        """Whether rewards can be learned, all of them; changes nothing."""
        opened = found.open if isinstance(found, Closed) else found
        memos: Sequence[Memo | None] = opened.memos if isinstance(opened, Open) else [None] * len(rewards)
        known = [(memo, r) for memo, r in zip(memos, rewards, strict=True) if not math.isnan(r)]
        if known and w != 0.0:
            self._learner.accepts([m for m, _ in known], [r for _, r in known], w, again=isinstance(found, Closed))

    def _tell(self, step: Callable[["Challenger"], None]) -> None:
        """Let every challenger follow a change that was made; twice is the same as once."""
        for challenger in self._challengers.values():
            step(challenger)
