"""The online front: the same strategies, one decision at a time.

Rewards may come late, in any order. The clock of an agent counts decisions (and observations that came without one), not rewards: an
observation made `age` decisions ago weighs what it would weigh had its reward come at once. Call by call:

`select`                    opens a decision. If the reward of the one before is still out, that one's round passes now.
`update(r)`                 the reward of the last selection, the only one that is open.
`update(r, x=x)`            an observation without a decision: a round of its own.
`update(r, age=0)`          the reward of the last selection, whatever else is open.
`update(r, x=x, age=3)`     the reward of the decision before the last three, with the features x that were played.
"""

import os
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.atomic import change
from ..core.background_compile import CompileMode, compile_mode
from ..core.checks import Check, as_numbers, as_offer, check_arms, check_same_arms
from ..core.checks import prepare as prepare_checks
from ..core.linalg import Matrix, Vector
from ..errors import (
    CannotRead,
    DriftBanditsError,
    InvalidShape,
    InvalidState,
    InvalidValue,
    NoMethod,
    integer,
    positive,
    real,
    require,
)
from ..io.saving import finite, read, write
from ..protocol import (
    NO_SLOT,
    Setting,
    add_item,
    describe,
    drop_item,
    estimator,
    noise_size,
    propensities,
    settle,
)
from ..util.fair_lock import Turns
from ..util.write_once import Fixed
from . import file
from .engine import Engine, Passing
from .one_pass import online
from .pending import Pending


class Agent(Engine):
    """Decide now, learn when the reward arrives.

    Parameters
    ----------
    strategy
        From `zoo`, or any composition of parts. Generalized models made without saying which `estimator` estimate in one pass here, so that
        time and memory stay those of the first round (`one_pass`).
    dim
        Number of features d of an arm.
    seed
        Of the agent's own randomness (ties, randomised rules).
    horizon
        Number of rounds, if known; only strategies with a union bound over time need it.
    check
        Arms longer than the strategy's L are an error, a warning ("warn") or ignored ("off"). Unless it is "off", changing arms are an
        error for MASTER, whose tests compare rounds with the same arms.
    items
        Number K of items, for strategies with a model per item: `select` then takes one context (d,) and returns the item.
    compile
        If the code of this strategy is not in the cache: "background" decides at once, interpreted, and compiles in a child process;
        "now" waits, 5 to 20 seconds; "never" stays interpreted, about 100 × slower.

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

    strategy = Fixed[Any]()
    dim = Fixed[int]()
    horizon = Fixed[int | None]()
    check = Fixed[Check]()

    def __init__(
        self,
        strategy: Any,
        *,
        dim: int,
        seed: int | np.random.SeedSequence = 0,
        horizon: int | None = None,
        check: Check = "error",
        items: int | None = None,
        compile: CompileMode = "background",  # noqa: A002 - as a user would say it
    ) -> None:
        self.dim = self._dim = d = integer("dim", dim, least=1, why="it is the number of features d")
        T = 0 if horizon is None else integer("horizon", horizon, least=1, why="it is the number of rounds T")
        self.horizon = T or None
        self.check = self._check = check
        self.strategy = strategy = online(settle(strategy, d))
        if not isinstance(seed, np.random.SeedSequence):
            seed = integer("seed", seed, least=0, why="it starts the random generator")
        K = 0 if items is None else integer("items", items, least=1, why="there must be an item to choose")
        if K and not add_item.knows(type(strategy)):
            raise InvalidValue(
                f"items = {K} is not allowed; {type(strategy).__name__} has no model per item: give select the arms"
            )
        self._items = K  # 0: the arms come with every call
        self._pending = Pending(np.zeros(d))
        self._first_offer: Matrix | None = None  # kept where the strategy needs the same arms in every round
        self._lock = Turns()
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
            ≥ 0; the observation counts as so many. The radius is a theorem for weights in [0, 1].
        sigma
            The size of this reward's noise, where it is known, at most the R of the strategy: the observation counts (R/σ)² times as much,
            as in weighted least squares. The radius stays a theorem; learners with two matrices (`d_lin_ucb`, …) are wider than need be.
        age
            Decisions made since: 0 for the last one, 3 if three were made after it. The estimate becomes what it would be had the reward
            come in time. Without it `x` is an observation without a decision, and a round of its own.
        item
            With items: the one that was chosen in the context `x`.

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
            require(False, "weight", weight, "≥ 0", "an observation counts as so many")
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
                if self._waits and not pending.behind:  # its round has passed already, without the reward
                    rounds = 0
            closed = pending._replace(chosen=False, behind=False)
            after = {"_pending": closed if x is None else pending.closed(features, rounds, slot)}
            if w == 1.0 and (rounds is None or (rounds == 0 and pending.behind)):
                self._learn(features, r, slot, after)
            else:
                self._learn_late(features, r, w, rounds, slot, after, behind=pending.behind)

    def scores(self, arms: ArrayLike) -> Vector:
        """The optimistic index of every arm, as the rule computes it for the coming decision, (n,)."""
        offer = self._offer(arms)
        with self._lock:
            self._recover()
            return self._scored(offer, self._items or offer.shape[1])

    def propensities(self, arms: ArrayLike) -> Vector:
        """The probability with which the coming `select` of these arms chooses each, (n,); asking changes nothing.

        Exact for the choice that will be made, whatever has been drawn for it already. Strategies that do not choose at random have none.
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
        """One more item, of which nothing is known; returns its number."""
        self._checked_item(0)
        with self._lock:
            self._recover()
            self.__dict__.update(_state=add_item(self._strategy, self._state), _items=self._items + 1)
            return self._items - 1

    def drop_item(self, item: int) -> None:
        """Never choose this item again; its number stays taken."""
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
        """What the strategy tells about its state: observations, effective memory, radius, …"""
        with self._lock:
            self._recover()
            return {name: finite(value) for name, value in describe(self._strategy, self._state).items()}

    def __repr__(self) -> str:
        return f"Agent({file.outline(self._strategy)}, dim={self._dim}, observations={self.info().get('observations', '?')})"

    # --------------------------------------------------------------------------------------------------------------- durable state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the agent to one file, atomically: it goes on after `load` as if it had never been saved.

        Arrays (safetensors) and JSON, no pickle. Needs the extra `state`.
        """
        write(path, "Agent", *self.pack())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, compile: CompileMode = "background") -> "Agent":  # noqa: A002
        """The agent that was saved; a file that is damaged, hostile or of a later version is refused in one line.

        Parts of your own must be imported before: nothing is imported, and no code is run, for a file.
        """
        about, arrays = read(path, "Agent")
        try:
            return cls.unpack(about, arrays, compile=compile)
        except DriftBanditsError as problem:
            raise CannotRead(f"{os.fspath(path)} cannot be loaded: {problem}") from None

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All of the agent, as JSON and arrays."""
        with self._lock:
            self._recover()
            return file.pack_agent(self)

    def __reduce__(self) -> Any:
        """Copied and pickled as it is saved."""
        return _copied, self.pack()

    @classmethod
    def unpack(cls, about: dict[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any) -> "Agent":
        """The agent that was packed."""
        return cast(Agent, file.unpack_agent(cls, about, arrays, **options))

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
            raise InvalidValue(f"reward = {reward!r} is not allowed; it must be {allowed}: the radius assumes it")
        return r

    def _precision(self, sigma: float) -> float:
        """(R/σ)²: the noise times R/σ is R-sub-Gaussian, as the radius assumes of every observation."""
        try:
            R = noise_size(self._strategy)
        except NoMethod:
            name = type(self._strategy).__name__
            raise InvalidValue(
                f"sigma = {sigma!r} is not allowed; {name} does not assume noise of one size R"
            ) from None
        size = positive("sigma", sigma, "it is the size of this reward's noise")
        require(size <= R, "sigma", sigma, f"≤ R = {R:g}", "R bounds all noise; make the strategy with a larger one")
        return (R / size) ** 2

    def _checked_item(self, item: int | None) -> int:
        """An item's number as the slot of an observation."""
        if not self._items:
            if item is not None:
                raise InvalidValue("this agent has no items; make it with Agent(strategy, dim=d, items=K)")
            return NO_SLOT
        if item is None:
            raise InvalidValue("which item was that? Give item=… with x=…")
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


def _copied(about: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Agent:
    return Agent.unpack(about, arrays)
