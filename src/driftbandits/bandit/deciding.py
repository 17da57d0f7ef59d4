"""What happens when a bandit decides, once everything has been checked.

Each change of a bandit is one of `_decide` here, `_reward` (`rewarding`), `_observe`, `_expire`, `_drop` and `_forget` (`keeping`); a
durable bandit writes each down and can do each again.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import DriftBanditsError, NumericalError
from .adaptive import TooWide
from .chance import uniform
from .changes import ORDINARY, Answer, Request, Way, first_listed
from .decision import Decision, Features
from .drifting import Drifting
from .learner import Choice, Draft, Offer, Placed
from .ledger import Law
from .pending import DEFERRED, Open, Pending
from .state import RECENT


class Deciding(Drifting):
    """The decisions of a bandit."""

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
            raise in_words(problem) from None
        self._look_for_rewards(self._tick, self._newest)
        self._note_decision(request, decision)
        self._recent[id_] = decision
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return decision

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
        names, drawn, p, score = request.names, choice.drawn, choice.propensities, choice.scores
        features = Features(request.rows, drawn, request.context, request.offer.named)
        items = [names[drawn[0]]] if len(drawn) == 1 else [names[a] for a in drawn]
        decision = Decision(id_, names, items, choice.propensity, p, score, request.at, tick, features)
        if way is not ORDINARY:
            decision.defer, decision.learn, decision.would = way.defer, way.learn, would
        if self._tick < tick:
            if id_ not in self._pending.open:
                law = Law(names, p, score, drawn[0], first_listed(request))
                since = DEFERRED if way.defer else None
                opened = Open(tick, request.at, choice.memos, since, way.learn, law)
                if self._challengers:
                    opened = self._asked(request, id_, drawn, opened)
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
        oldest = self._oldest if self._oldest <= request.at else request.at
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

    def _turn(self) -> Any:
        """One caller at a time; a durable bandit makes it a transaction."""
        return self._lock

    def _note_decision(self, request: Request, decision: Decision) -> None:
        """A durable bandit writes it down."""

    def _note_reward(self, given: Answer) -> None:
        """A durable bandit writes it down."""

    def _note(self, kind: str, **row: Any) -> None:
        """A durable bandit writes it down."""


def in_words(problem: BaseException) -> BaseException:
    """An arithmetic error of interpreted kernels in one line: machine code would go on with NaN. Other errors are themselves."""
    if isinstance(problem, DriftBanditsError) or not isinstance(problem, ArithmeticError):
        return problem
    return NumericalError(
        f"what this bandit has learned is outside of what rewards can lead to ({problem}): its file was damaged or forged; "
        "nothing was changed"
    )
