"""`Bandit` beside other learners: challengers that watch, and are promoted or dropped."""

from typing import Any

from .batches import Batches
from .challengers import dropped, new_challenger, promoted


class Challenged(Batches):
    """A bandit that others watch."""

    def challenge(self, name: str, policy: Any = None, **settings: Any) -> None:
        """Let another learner, or a function, watch: it sees every decision and reward from now on, and never acts.

        `value(name)` says what it would have earned; `promote(name)` lets it decide. A learner costs each decision and reward about as much
        as the bandit itself (`info()["challengers"]` has the measured time). It is saved with the bandit; a function must be given again.

        Parameters
        ----------
        policy
            A strategy of the zoo; a function of (items, context) that returns the probability of each item, a dict by name or a list in
            the order of `items`; None for the default learner with other settings.
        settings
            `half_life` (math.inf: never forgets), `features`, `explore`: where the challenger differs.

        Examples
        --------
        >>> import driftbandits as db
        >>> bandit = db.Bandit(reward="click", explore=0.2, seed=0)
        >>> bandit.challenge("static", half_life=float("inf"))
        >>> bandit.challenge("always b", lambda items, context: {"b": 1.0})
        >>> for _ in range(200):
        ...     d = bandit.decide(["a", "b"])
        ...     bandit.reward(d.id, d.item == "b")
        >>> bandit.value("always b").other.n  # all but the first 50, which say how rare clicks are
        150
        >>> bandit.promote("static")
        """
        this: Any = self
        with self._turn():
            new = new_challenger(this, name, policy, settings)
            self._become({"_challengers": {**self._challengers, name: new}})

    def promote(self, name: str) -> None:
        """Let a challenger decide from now on, with what it has learned; the learner in place is given up.

        Rewards of decisions made before the challenge are learned too, as far as these are remembered: the last 64, or all in the log of
        a durable bandit. Of the others, give the dict (`Decision.to_dict`) in place of the id.
        """
        this: Any = self
        with self._turn():
            self._become(promoted(this, name))

    def drop_challenger(self, name: str) -> None:
        """End a challenge, and forget its value."""
        this: Any = self
        with self._turn():
            self._become(dropped(this, name))

    def _become(self, after: dict[str, Any]) -> None:
        """Replace attributes, all or none. A durable bandit takes a snapshot: such a change is not in the log."""
        self.__dict__ |= after
