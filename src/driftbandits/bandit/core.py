"""What happens when a bandit decides or learns, once everything has been checked.

Each change is one of `_decide`, `_reward`, `_observe`, `_expire`, `_drop`; a durable bandit writes each down and can do each again.
"""

import logging
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DriftBanditsError, NumericalError
from .adaptive import TooWide
from .alarms import Found
from .arrivals import OFTEN
from .chance import uniform
from .changes import ORDINARY, Answer, Before, Request, Rewarded, Way, first_listed
from .decision import Decision, Features
from .events import DriftEvent
from .learner import Choice, Draft, Memo, Observation, Offer, Placed
from .ledger import Entry, Law
from .logged import Logged
from .pending import DEFERRED, DONE, Closed, Open, Pending
from .state import EVENTS, RECENT, State

if TYPE_CHECKING:
    from .challengers import Challenger

LOG = logging.getLogger("driftbandits")


class Core(State):
    """The changes of a bandit."""

    # Each change below is made by the learner wholly or not at all (`Draft.done` says which), and then entered in the other attributes.
    # Entering it twice is the same as once. So whatever interrupts a call, what was prepared is taken back, or the rest is entered.

    def _decide(self, request: Request, id_: str, way: Way = ORDINARY) -> Decision:
        draft = Draft(self._tick + 1)
        try:
            self._prepare_decision(draft, request)
            draft.make(draft)
            decision = self._enter_decision(request, id_, draft, way)
        except BaseException as problem:
            if draft.done[0]:
                self._enter_decision(request, id_, draft, way)
            else:
                self._learner.undo(draft.kept)
            raise _in_words(problem) from None
        self._look_for_rewards(self._tick, self._newest)
        self._note_decision(request, decision)
        self._recent[id_] = decision
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return decision

    def _look_for_rewards(self, tick: int, newest: float) -> None:
        """Whether rewards of earlier decisions are missing, looked at after every 16th decision."""
        if tick % OFTEN or not self._watched:
            return
        arrivals = self._arrivals
        found = arrivals.look(tick)
        if found is not None:
            means = found.before, found.after
            event = DriftEvent(newest, found.kind, tick, found.since, found.evidence, None, None, *means)
            self.__dict__.update(self._with_events([event], self._before()))
            arrivals.found = None

    def _before(self) -> Before:
        return Before(self._events, self._unreported, self._ledger.books)

    def _prepare_decision(self, draft: Draft, request: Request) -> None:
        tick, k = draft.tick, request.k
        chance = (uniform(self._chance, tick, 0),) if k == 1 else [uniform(self._chance, tick, j) for j in range(k)]
        explore, awaited = self._config["explore"], self._pending.awaited
        try:
            self._learner.decision(draft, request.offer, explore, chance, awaited)
        except TooWide:
            self._widen(draft)
            self._learner.decision(draft, request.offer, explore, chance, awaited)

    def _enter_decision(self, request: Request, id_: str, draft: Draft, way: Way) -> Decision:
        choice, tick, would = self._learner.choice(draft), draft.tick, None
        if way.show is not None:
            would = [request.names[a] for a in choice.drawn]
            choice = self._shown_instead(request, draft.placed, choice, way.show)
        features = Features(request.rows, choice.drawn, request.context, request.offer.named)
        items = [request.names[a] for a in choice.drawn]
        p, score = choice.propensities, choice.scores
        decision = Decision(id_, request.names, items, choice.propensity, p, score, request.at, tick, features)
        if way is not ORDINARY:
            decision.defer, decision.learn, decision.would = way.defer, way.learn, would
        if self._tick < tick:
            if id_ not in self._pending.open:
                law = Law(request.names, p, score, choice.drawn[0], first_listed(request))
                since = DEFERRED if way.defer else None
                opened = Open(tick, request.at, choice.memos, since, way.learn, law)
                if self._challengers:
                    opened = self._asked(request, id_, choice.drawn, opened)
                self._pending.put(id_, opened)
            self._arrivals.opened(tick, awaited=not way.defer)
            self.__dict__.update(self._after(request, tick, "decisions", None if would is None else would == way.show))
        return decision

    def _asked(self, request: Request, id_: str, drawn: Sequence[int], opened: Open) -> Open:
        """The decision with what each challenger would have done."""
        found = [(name, c.ask(request, id_, drawn, opened)) for name, c in self._challengers.items()]
        law = opened.law
        return (
            opened
            if law is None
            else opened._replace(law=law._replace(others=tuple((n, p) for n, p in found if p is not None)))
        )

    def _shown_instead(self, request: Request, placed: Placed, choice: Choice, show: list[Any]) -> Choice:
        """The choice of a policy outside, which is certain to be shown."""
        drawn = [request.names.index(item) for item in show]
        propensities = np.zeros(len(request.names))
        propensities[drawn[0]] = 1.0
        memos = [self._learner.memo(placed, a) for a in drawn]
        return Choice(drawn, 1.0, propensities, choice.scores, memos)

    def _after(self, request: Request, tick: int, counted: str, agreed: bool | None = None) -> dict[str, Any]:
        """Attributes after a decision, or a choice made elsewhere.

        `agreed`: whether the learner would have chosen what a policy outside showed; these counts exist once there is such a policy.
        """
        counts, newest = self._counts.copy(), self._newest
        counts[counted] += 1
        if request.at < newest:
            counts["backwards"] += 1
        else:
            newest = request.at
        if agreed is not None:
            counts["guided"] = counts.get("guided", 0) + 1
            counts["agreed"] = counts.get("agreed", 0) + agreed
        oldest = min(self._oldest, request.at)
        return {"_tick": tick, "_counts": counts, "_oldest": oldest, "_newest": newest, "_given": request.given}

    def _activate(self, id_: str, at: float) -> None:
        """From now on the reward of a deferred decision is expected."""
        waiting = self._pending.open.get(id_)
        if waiting is not None and waiting.since == DEFERRED:
            self._pending.open[id_] = waiting._replace(since=at)

    def _draw(self, request: Request, draft: Draft | None = None) -> tuple[Placed, Choice]:
        """Everything that a decision changes, but for the table of those that wait. Again, with the same draft: changes nothing."""
        draft = Draft(self._tick + 1) if draft is None else draft
        if not draft.done[0]:
            try:
                self._prepare_decision(draft, request)
                draft.make(draft)
            except BaseException:
                if not draft.done[0] and draft.kept is not None:
                    self._learner.undo(draft.kept)
                    draft.kept = None
                raise
        if self._tick < draft.tick:
            self.__dict__.update(self._after(request, draft.tick, "decisions"))
        return draft.placed, self._learner.choice(draft)

    def _place(self, offer: Offer) -> Placed:
        """An offer in the learner's slots; above 500 columns the covariance becomes diagonal."""
        try:
            return self._learner.place(offer, self._tick, awaited=self._pending.awaited)
        except TooWide:
            self._widen(Draft())
            return self._learner.place(offer, self._tick)

    def _widen(self, draft: Draft) -> None:
        """There are more than 500 columns: take back what was prepared, and go on with a diagonal covariance."""
        from .widening import converted, widened

        if draft.kept is not None:
            self._learner.undo(draft.kept)
            draft.kept = None
        old, new, pending = self._learner, widened(self._learner), Pending(self._pending.limit)  # type: ignore[arg-type]

        def moved(waiting: Open) -> Open:
            return waiting._replace(memos=[converted(memo, old, new) for memo in waiting.memos])  # type: ignore[arg-type]

        waits = [(id_, moved(waiting)) for id_, waiting in self._pending.open.items()]
        answered = [
            (id_, done if done.open is None else done._replace(open=moved(done.open)))
            for id_, done in self._pending.closed.items()
        ]
        pending.restore(waits, answered, self._pending.dropped)
        self.__dict__.update(
            _learner=new, _pending=pending
        )  # both at once: an interrupt leaves the old ones, which fit each other

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
        try:
            self._learn(Rewarded(observations, counts, ((id_, answer),), entries, opened.at, arrived))
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
            raise _in_words(problem) from None

    def _enter_rewards(self, draft: Draft | None, change: Rewarded, before: Before) -> None:
        found: Sequence[Found] = ()
        if draft is not None:
            self._learner.watch(draft, change.observations)
            found = self._tested(draft, change.observations)
        self._pending.close(change.answers)
        if change.arrived is not None:
            self._arrivals.enter(change.arrived)
        self._ledger.books = self._ledger.after(before.books, change.entries)
        self.__dict__.update(self._drifted(found, change.at, before), _counts=change.counts)

    def _tested(self, draft: Draft, observations: Sequence[Observation]) -> Sequence[Found]:
        """The alarms that these rewards raise."""
        return self._alarms.enter(draft, observations, self._tick, self._learner) if self._watched else ()

    def _drifted(self, found: Sequence[Found], at: float, before: Before) -> dict[str, Any]:
        """Drift events after rewards that raised these alarms."""
        at = max(at, self._newest)
        return self._with_events([self._alarms.event(alarm, at, self._learner) for alarm in found], before)

    def _with_events(self, new: list[DriftEvent], before: Before) -> dict[str, Any]:
        if not new:
            return {"_events": before.events, "_unreported": before.unreported}
        told = [*before.unreported, *new] if self._on_drift is not None else before.unreported
        return {"_events": [*before.events, *new][-EVENTS:], "_unreported": told}

    def _report_drift(self) -> None:
        """Call `on_drift`, after everything that led to it is learned and kept; what it raises is its own problem, and is reported."""
        while self._unreported and self._on_drift is not None and not self._together:
            event, *self._unreported = self._unreported
            try:
                self._on_drift(event)
            except Exception:
                LOG.exception("on_drift raised an error with %r; the bandit has learned the reward and goes on", event)

    def _check_reward(self, found: Open | Closed | Logged, rewards: Sequence[float], w: float) -> None:
        """Whether rewards can be learned, all of them; changes nothing."""
        opened = found.open if isinstance(found, Closed) else found
        memos: Sequence[Memo | None] = opened.memos if isinstance(opened, Open) else [None] * len(rewards)
        known = [(memo, r) for memo, r in zip(memos, rewards, strict=True) if not math.isnan(r)]
        if known and w != 0.0:
            self._learner.accepts([m for m, _ in known], [r for _, r in known], w, again=isinstance(found, Closed))

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

    def _tell(self, step: Callable[["Challenger"], None]) -> None:
        """Let every challenger follow a change that was made; twice is the same as once."""
        for challenger in self._challengers.values():
            step(challenger)

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
            raise _in_words(problem) from None

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

    def _turn(self) -> Any:
        """One caller at a time; a durable bandit makes it a transaction."""
        return self._lock

    def _note_decision(self, request: Request, decision: Decision) -> None:
        """A durable bandit writes it down."""

    def _note_reward(self, given: Answer) -> None:
        """A durable bandit writes it down."""

    def _note(self, kind: str, **row: Any) -> None:
        """A durable bandit writes it down."""


def _expire(challenger: "Challenger", old: Sequence[tuple[str, Open]], r: float | None) -> None:
    """What a challenger learns of decisions that are given up."""
    for id_, waiting in old:
        if r is None or waiting.since == DEFERRED:
            challenger.give_up(id_)
        else:
            challenger.reward(id_, [r] * len(waiting.memos), 1.0)


def _in_words(problem: BaseException) -> BaseException:
    """An arithmetic error of interpreted kernels in one line: machine code would go on with NaN. Other errors are themselves."""
    if isinstance(problem, DriftBanditsError) or not isinstance(problem, ArithmeticError):
        return problem
    return NumericalError(
        f"what this bandit has learned is outside of what rewards can lead to ({problem}): its file was damaged or forged; "
        "nothing was changed"
    )
