"""The online interface: any strategy, one decision at a time.

Rewards may arrive late and in any order. The clock of an agent counts decisions (and observations given without a decision), not rewards:
an observation of `age` decisions ago gets the weight that it would have had its reward arrived at once. The calls are:

`select`                    makes a decision. If the reward of the previous one has not arrived, its round passes without a reward.
`update(r)`                 gives the reward of the last selection, if it is the only one without a reward.
`update(r, x=x)`            gives an observation without a decision, which counts as a round of its own.
`update(r, age=0)`          gives the reward of the last selection when earlier ones are still open.
`update(r, x=x, age=3)`     gives the reward of the decision that was followed by three others, with the features x that were played.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.atomic import change
from ..core.background_compile import CompileMode, compile_mode
from ..core.checks import Check, as_numbers, as_offer, check_arms, check_same_arms
from ..core.checks import prepare as prepare_checks
from ..core.linalg import Matrix, Vector
from ..core.state import pack
from ..errors import (
    InvalidShape,
    InvalidState,
    InvalidValue,
    NoMethod,
    integer,
    positive,
    real,
    require,
)
from ..io.saveable import Saveable
from ..io.saving import finite
from ..protocol import (
    NO_SLOT,
    Setting,
    add_item,
    describe,
    drop_item,
    estimator,
    make_room,
    noise_size,
    propensities,
    settle,
)
from ..protocol.restoring import restored
from ..protocol.shapes import Shapes, growing
from ..util.fair_lock import FairLock
from ..util.notebook import boxes, card
from ..util.write_once import WriteOnce
from . import file
from .engine import Engine, Passing
from .one_pass import one_pass_for_agents
from .pending import Pending


class Agent(Engine, Saveable):
    """Makes decisions with a strategy, and learns each reward when it arrives.

    Parameters
    ----------
    strategy
        From `zoo`, or any composition of parts. Generalized models built without an explicit `estimator` estimate in one pass here, so that
        time and memory per round stay constant (`one_pass`).
    dim
        Number of features d of an arm.
    seed
        Seed of the agent's own randomness (ties, randomised rules).
    horizon
        Number of rounds, if known; only strategies with a union bound over time need it.
    check
        Arms longer than the strategy's L are an error, a warning ("warn") or ignored ("off"). Unless it is "off", changing arms are an
        error for MASTER, whose tests compare rounds with the same arms.
    items
        Number K of items, for strategies with a model per item: `select` then takes one context (d,) and returns the item.
    compile
        What to do if the compiled code of this strategy is not in the cache: "background" decides at once by interpreted code and compiles
        in a child process; "now" waits for the compilation, 5 to 20 seconds; "never" stays interpreted, about 100 × slower.

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.Agent(db.zoo.lb_weight_ucb(half_life=200, lam=0.1, S=1, L=1, R=0.1, delta=0.01), dim=2, seed=0)
    >>> arms = [[1.0, 0.0], [0.0, 1.0]]
    >>> for _ in range(100):
    ...     k = agent.select(arms)
    ...     agent.update(reward=[0.2, 0.8][k])
    >>> agent.theta.round(1)
    array([0.2, 0.8])
    """

    _kind = "Agent"

    strategy = WriteOnce[Any]()
    dim = WriteOnce[int]()
    horizon = WriteOnce[int | None]()
    check = WriteOnce[Check]()

    def __init__(
        self,
        strategy: Any,
        *,
        dim: int,
        seed: int | np.random.SeedSequence = 0,
        horizon: int | None = None,
        check: Check = "error",
        items: int | None = None,
        compile: CompileMode = "background",  # noqa: A002 - the natural name for users
    ) -> None:
        self.dim = self._dim = d = integer("dim", dim, least=1, why="it is the number of features d")
        T = 0 if horizon is None else integer("horizon", horizon, least=1, why="it is the number of rounds T")
        self.horizon = T or None
        self.check = self._check = check
        self.strategy = strategy = one_pass_for_agents(settle(strategy, d))
        if not isinstance(seed, np.random.SeedSequence):
            seed = integer("seed", seed, least=0, why="it starts the random generator")
        K = 0 if items is None else integer("items", items, least=1, why="there must be an item to choose")
        if K and not add_item.knows(type(strategy)):
            raise InvalidValue(
                f"items = {K} is not allowed; {type(strategy).__name__} has no model per item: give select the arms"
            )
        self._items = K  # 0: the arms are given with every call
        self._pending = Pending(np.zeros(d))
        self._first_offer: Matrix | None = None  # kept where the strategy needs the same arms in every round
        self._lock = FairLock()
        how = compile_mode(compile)
        prepare_checks(how)
        setting = Setting(dim=d, arms=np.zeros((d, 0)), horizon=T, items=K)
        super().__init__(strategy, setting, np.random.default_rng(seed), measured=check != "error", how=how)

    def check_offer(self, arms: ArrayLike) -> None:
        """Raise as `select` would for these arms; changes nothing."""
        offer = self._offer(arms)
        if self._limits.fixed_arms and self._check != "off":
            check_same_arms(self._first_offer, offer, type(self._strategy).__name__)

    def check_update(self, reward: float, *, weight: float = 1.0, age: int | None = None) -> None:
        """Raise as `update(reward, x=…, weight=weight, age=age)` would for features that are allowed; changes nothing."""
        with self._lock:
            self._recover()
        self._reward_in_range(reward)
        w = 1.0 if weight == 1.0 else real("weight", weight)
        behind = self._pending.behind
        if not (w == 1.0 and (age is None or (age == 0 and behind))):
            self._check_late(age, passes=behind or age is None)

    def select(self, arms: ArrayLike) -> int:
        """Index of the arm to play among the rows of `arms` (n, d), which may differ in every call; or the item for a context (d,)."""
        offer = self._offer(arms)
        with self._lock:
            self._recover()
            first, pending = self._first_offer, self._pending
            if self._limits.fixed_arms and self._check != "off":
                first = check_same_arms(first, offer, type(self._strategy).__name__)

            def after(k: int) -> dict[str, Any]:
                x, item = (offer[:, 0], k) if self._items else (offer[:, k], NO_SLOT)
                return {"_pending": pending.opened(x, item), "_first_offer": first}

            return self._choose(offer, self._items or offer.shape[1], pending.behind and self._waits, after)

    def update(
        self,
        reward: float,
        *,
        x: ArrayLike | None = None,
        weight: float = 1.0,
        sigma: float | None = None,
        age: int | None = None,
        item: int | None = None,
    ) -> None:
        """Learn a reward: of the last selection, of an earlier one, or of any features.

        Parameters
        ----------
        x
            (d,) the features played; by default those of the last selection.
        weight
            The weight of the observation, ≥ 0. The confidence radius is proved for weights in [0, 1].
        sigma
            The standard deviation of this reward's noise, if it is known, at most the R of the strategy: the observation gets weight
            (R/σ)², as in weighted least squares. The confidence radius stays valid; for learners with two matrices (`d_lin_ucb`, …) it is
            larger than necessary.
        age
            The number of decisions made since: 0 for the last one, 3 if three were made after it. The estimate becomes the one that the
            reward would have given on time. Without `age`, `x` is an observation without a decision, and a round of its own.
        item
            With items: the item that was chosen in the context `x`.

        Examples
        --------
        >>> import driftbandits as db
        >>> agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1), dim=1, seed=0)
        >>> for x in (0.5, 1.0):
        ...     k = agent.select([[x]])
        >>> agent.update(0.8)
        Traceback (most recent call last):
        ...
        driftbandits.errors.InvalidState: 2 selections are open: say age=0 for the last; an earlier one needs x=… and age=…
        >>> agent.update(0.8, x=[0.5], age=1)
        >>> agent.update(1.0)
        """
        r = self._reward_in_range(reward)
        w = 1.0 if weight == 1.0 else real("weight", weight)
        if w < 0.0:
            require(False, "weight", weight, "≥ 0", "it multiplies the weight of the observation")
        if sigma is not None:
            w *= self._precision(sigma)
        rounds = None if age is None else integer("age", age, least=0, why="it is the number of decisions made since")
        features, slot = None, NO_SLOT
        if x is not None:
            features, slot = self._features(x), self._checked_item(item)
        elif item is not None:
            raise InvalidValue(f"item = {item!r} needs x=…: the context in which it was chosen")
        with self._lock:
            self._recover()
            pending = self._pending
            if features is None:
                features, slot = pending.last(rounds), pending.item
                if (
                    self._waits and not pending.behind
                ):  # the round of this selection has already passed without its reward
                    rounds = 0
            closed = pending._replace(chosen=False, behind=False)
            after = {"_pending": closed if x is None else pending.closed(features, rounds, slot)}
            if w == 1.0 and (rounds is None or (rounds == 0 and pending.behind)):
                self._learn(features, r, slot, after)
            else:
                self._learn_late(features, r, w, rounds, slot, after, behind=pending.behind)

    def scores(self, arms: ArrayLike) -> Vector:
        """The optimistic index of every arm, as the rule computes it for the next decision, (n,)."""
        offer = self._offer(arms)
        with self._lock:
            self._recover()
            return self._scored(offer, self._items or offer.shape[1])

    def propensities(self, arms: ArrayLike) -> Vector:
        """The probability with which the next `select` of these arms chooses each, (n,). Calling it does not change the choice.

        The probabilities are exact, conditional on what has been drawn already. Only randomised strategies have them.
        """
        offer = self._offer(arms)
        if not propensities.knows(type(self._strategy)):
            raise InvalidState(
                f"{type(self._strategy).__name__} does not choose with known probabilities; zoo.self_tuning does"
            )
        with self._lock:
            self._recover()
            if self._pending.behind and self._waits:  # as the coming selection would
                self._begin(Passing({"_pending": self._pending.passed()}, []))
            return self._probabilities(offer, self._items or offer.shape[1])

    def add_item(self) -> int:
        """Add an item without observations; returns its number."""
        self._checked_item(0)
        with self._lock:
            self._recover()
            state, shapes = add_item(self._strategy, self._state), self._shapes.with_item(self._strategy)
            self.__dict__.update(_state=state, _shapes=shapes, _items=self._items + 1)
            return self._items - 1

    def drop_item(self, item: int) -> None:
        """Never choose this item again; its number is not reused."""
        k = self._checked_item(item)
        with self._lock:
            self._recover()
            change([], drop_item, self._state, self._rng, self._strategy, self._state, k)

    @property
    def theta(self) -> Vector:
        """Current estimate of θ, (d,); of a learner on kernel features, of their D parameters."""
        with self._lock:
            self._recover()
            return estimator(self._strategy, self._state).copy()

    def info(self) -> dict[str, Any]:
        """A summary of the strategy's state: observations, effective memory, radius, …"""
        with self._lock:
            self._recover()
            return {name: finite(value) for name, value in describe(self._strategy, self._state).items()}

    def __repr__(self) -> str:
        return f"Agent({file.outline(self._strategy)}, dim={self._dim}, observations={self.info().get('observations', '?')})"

    def _repr_html_(self) -> str:
        """Its strategy as a diagram, for notebooks."""
        rows = {"features": self._dim, "observations": self.info().get("observations", "?")}
        return card("Agent", rows, boxes(self._strategy))

    # --------------------------------------------------------------------------------------------------------------- durable state

    def _packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return file.to_file(
            file.Contents(
                self._strategy,
                self._dim,
                self.horizon,
                self._check,
                self._items,
                self._room,
                self._rng.bit_generator.state,
                self._pending,
                self._first_offer,
                pack(self._state),
            )
        )

    @classmethod
    def _unpacked(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any) -> Self:
        kept = file.from_file(about, arrays)
        agent = cls(
            kept.strategy, dim=kept.dim, horizon=kept.horizon, check=kept.check, items=kept.items or None, **options
        )
        agent._resume(kept)
        return agent

    def _resume(self, kept: file.Contents) -> None:
        """Continue where another agent was when it was written."""
        like = make_room(self._strategy, self._state, kept.room) if kept.room else self._state
        state = restored(like, kept.state, longer=growing(like))
        self._rng.bit_generator.state = kept.rng
        self._room, self._pending, self._first_offer = kept.room, kept.pending, kept.first_offer
        self.__dict__.update(_state=state, _shapes=Shapes(like))

    # ------------------------------------------------------------------------------------------------------------ checked input

    def _offer(self, arms: ArrayLike) -> Matrix:
        """Checked arms as (d, n), or a context as (d, 1)."""
        if self._items:
            return self._features(arms)[:, None]
        offer = as_offer(arms, self._dim)
        check_arms(offer[None], self._limits.L, self._check)
        return offer

    def _reward_in_range(self, reward: Any) -> float:
        r = real("reward", reward)
        if not self._limits.low <= r <= self._limits.high:
            allowed = f"in [{self._limits.low:g}, {self._limits.high:g}]"
            raise InvalidValue(
                f"reward = {reward!r} is not allowed; it must be {allowed}: the confidence radius assumes it"
            )
        return r

    def _precision(self, sigma: float) -> float:
        """(R/σ)²: the noise times R/σ is R-sub-Gaussian, as the radius assumes of every observation."""
        try:
            R = noise_size(self._strategy)
        except NoMethod:
            name = type(self._strategy).__name__
            raise InvalidValue(
                f"sigma = {sigma!r} is not allowed; {name} has no single noise level R to compare it with"
            ) from None
        noise = positive("sigma", sigma, "it is the standard deviation of this reward's noise")
        require(
            noise <= R,
            "sigma",
            sigma,
            f"≤ R = {R:g}",
            "R bounds the noise of all rewards; build the strategy with a larger R",
        )
        return (R / noise) ** 2

    def _checked_item(self, item: int | None) -> int:
        """An item's number as the slot of an observation."""
        if not self._items:
            if item is not None:
                raise InvalidValue("this agent has no items; make it with Agent(strategy, dim=d, items=K)")
            return NO_SLOT
        if item is None:
            raise InvalidValue("x=… was given without item=…; give the item that was chosen in this context")
        k = integer("item", item, least=0, why="it is the item's number")
        if k >= self._items:
            raise InvalidValue(f"item = {item!r} is not allowed; there are {self._items} items, 0 to {self._items - 1}")
        return k

    def _features(self, x: ArrayLike) -> Vector:
        features = np.ascontiguousarray(as_numbers("x", x))
        if features.shape != (self.dim,):
            raise InvalidShape(f"x has shape {features.shape}; it must be ({self.dim},): the features of one arm")
        check_arms(features[None, :, None], self._limits.L, self.check)
        return features
