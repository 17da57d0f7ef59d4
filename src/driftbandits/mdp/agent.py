"""The online front for episodic problems: plan an episode, act, observe."""

import threading
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.atomic import change
from ..core.background_compile import CompileMode, compile_mode, prepared
from ..core.kernel import entry
from ..core.linalg import Matrix
from ..errors import InvalidShape, InvalidState, InvalidValue, NumericalError, integer, real, require
from ..io.saveable import Saveable
from ..protocol import Integers
from ..protocol.shapes import TORN, Shapes
from ..util.write_once import WriteOnce
from . import agent_file
from .checks import ROUNDING
from .features import Features, check_known, features_of
from .played import Played
from .playing import play_policy
from .protocol import Cube, Task, experience, miss, open_book, plan, report, room_for, settled

PLAN, EXPERIENCE, MISS, END = 0, 1, 2, 3  # END: experience, and the episode ended there
NOISE_SPREAD = 8.0  # standard deviations by which a noisy reward may leave its range


class Doing(NamedTuple):
    """A call that was begun: moves of the compiled code, then attributes that are set in one step."""

    moves: list[tuple[int, int, int, float, int]]
    after: dict[str, Any]
    done: list[Any]  # as many as moves that were made


class EpisodicAgent(Saveable):
    """Control any environment with S states and A actions, one episode after another.

    Parameters
    ----------
    strategy
        From `zoo`, e.g. `weight_ucrl()` or `mnl_weight_ucrl()`, which need no constants.
    features
        What is known of the problem, from `mdp.tabular(states, actions)`, `mdp.mixture_of(models)`, `mdp.logit(features)`.
    phi, psi, reachable
        In place of `features`: arrays (S, A, d_θ) of rewards, (S, A, S, d_w) of transitions, and, for multinomial-logit strategies, (S,
        A, S) of bool, the possible successors; each with H in front where it differs from stage to stage.
    reward_range
        The least and the largest reward there can be. Learners see rewards mapped to [0, 1].
    horizon
        Number of stages H of an episode.
    episodes
        Number of episodes, if known; only strategies with a union bound over time need it.
    replan
        Plan the rest of an episode again when a pair has led to the same state 1, 2, 4, 8, … times, instead of once per episode as the
        paper does: what an action does, and that it does something else from today on, is then known before it is taken again.
    seed
        Of tie-breaks.

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(6, 2), horizon=4, seed=0)
    >>> agent.begin_episode().shape
    (4, 6, 2)
    >>> a = agent.act(0, 0)
    >>> agent.observe(0, 0, a, reward=0.1, s_next=0)
    """

    _kind = "EpisodicAgent"

    strategy = WriteOnce[Any]()
    features = WriteOnce[Features]()
    states = WriteOnce[int]()
    actions = WriteOnce[int]()
    horizon = WriteOnce[int]()
    episodes = WriteOnce[int | None]()
    reward_range = WriteOnce[tuple[float, float]]()
    replan = WriteOnce[bool]()

    def __init__(
        self,
        strategy: Any,
        features: Features | None = None,
        *,
        horizon: int,
        phi: ArrayLike | None = None,
        psi: ArrayLike | None = None,
        reachable: ArrayLike | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        episodes: int | None = None,
        replan: bool = False,
        seed: int | np.random.SeedSequence = 0,
        compile: CompileMode = "background",  # noqa: A002 - as in `Agent`
    ) -> None:
        if features is None:
            if phi is None or psi is None:
                raise InvalidValue("give features, e.g. mdp.tabular(states, actions), or the arrays phi and psi")
            features = features_of(phi, psi, reachable)
        elif not (phi is None and psi is None and reachable is None):
            raise InvalidValue("give either features or the arrays phi, psi and reachable, not both")
        self.reward_range = low, high = _range(reward_range)
        self.horizon = integer("horizon", horizon, least=1, why="it is the number of stages H")
        K = 0 if episodes is None else integer("episodes", episodes, least=1, why="it is the number of episodes")
        self.episodes = K or None
        self.features = check_known(features)
        self.states, self.actions = features.states, features.actions
        self.strategy, self._task = settled(strategy, self._scaled_task(features.task(self.horizon, K)))
        if not isinstance(seed, np.random.SeedSequence):
            seed = integer("seed", seed, least=0, why="it starts the random generator")
        self._rng = np.random.default_rng(seed)
        try:
            self._state = open_book(self.strategy, self._task)
        except MemoryError:
            raise InvalidValue(f"{features} in {self.horizon} stages need more memory than there is") from None
        self._state.book.idle[0] = min(max((0.0 - low) / (high - low), 0.0), 1.0)
        self._shapes = Shapes(self._state)
        self._checked: Any = None  # the state whose shapes were compared last
        self._stage = -1  # the next stage to observe; −1 before the first episode
        self._over = False  # the episode ended before stage H
        self.replan = _flag("replan", replan)
        self._seen: dict[int, int] = {}  # by pair·S + s': how often a pair led to a state, where plans are made again
        self._doing: Doing | None = None  # begun, and not finished
        self._lock = threading.RLock()  # the thread that was interrupted between a call and its release can go on
        given = (self.strategy, self._state, PLAN, 0, 0, 0.0, 0, self._rng)
        self._direct = prepared(_turn, given, compile_mode(compile), partial(setattr, self, "_direct"))

    def begin_episode(self) -> Cube:
        """Plan the next episode from all past ones; returns the optimistic values Q (H, S, A).

        An episode may end early: for the stages it did not reach only time passes.
        """
        with self._lock:
            self._recover()
            missed = range(self._stage, self.horizon) if self._stage > 0 else ()
            moves = [*((MISS, h, 0, 0.0, 0) for h in missed), (PLAN, 0, 0, 0.0, 0)]
            self._begin(Doing(moves, {"_stage": 0, "_over": False}, []))
            Q: Cube = self._state.book.Q.reshape(self.horizon, self.states, self.actions)
            if not np.isfinite(Q).all():
                raise NumericalError(
                    "the plan is not finite: the estimate could not be computed from what was observed; "
                    "a larger lam_w or a smaller S_w helps"
                )
            return Q.copy()

    def act(self, h: int, s: int) -> int:
        """The greedy action in stage h = 0..H−1 and state s."""
        with self._lock:
            self._recover()
            self._running()
            return int(self._state.book.policy[self._at("h", h, self.horizon), self._at("s", s, self.states)])

    def observe(
        self, h: int, s: int, a: int, reward: float, s_next: int, *, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Learn that action a in state s of stage h paid `reward` and led to `s_next`; a may be any action.

        `terminated`: the episode ended because `s_next` is an end; nothing can be earned in it, now or in any later episode. `truncated`:
        the episode was cut short, which says nothing about `s_next`. After either, or after stage H−1, `begin_episode` is due.
        """
        with self._lock:
            self._recover()
            self._running()
            stage = self._at("h", h, self.horizon)
            if self._over or stage != self._stage:
                due = "begin_episode" if self._over or self._stage == self.horizon else f"stage {self._stage}"
                raise InvalidState(
                    f"observe in stage {stage}, but {due} is due: an episode is observed stage by stage, once"
                )
            state, action, successor, r = self._step(stage, s, a, reward, s_next)
            ended, cut = _flag("terminated", terminated), _flag("truncated", truncated)
            move = (END if ended else EXPERIENCE, stage, state * self.actions + action, r, successor)
            goes_on = stage + 1 < self.horizon and not (ended or cut)
            news = self._is_news(state * self.actions + action, successor)
            again = [(PLAN, 0, 0, 0.0, 0)] if news and goes_on else []
            self._begin(Doing([move, *again], {"_stage": stage + 1, "_over": ended or cut}, []))

    def _is_news(self, pair: int, successor: int) -> bool:
        """Whether a plan should not wait for the next episode: a pair has led to this state 1, 2, 4, 8, … times in all.

        Outcomes are counted, not visits: that a pair which was visited often leads elsewhere from today on is news.
        """
        if not self.replan:
            return False
        outcome = pair * self.states + successor
        count = self._seen[outcome] = self._seen.get(outcome, 0) + 1
        return count & (count - 1) == 0

    def _step(self, h: int, s: int, a: int, reward: float, s_next: int) -> tuple[int, int, int, float]:
        """State, action, successor and scaled reward of a step that can be learned; the caller holds the lock."""
        state, action = self._at("s", s, self.states), self._at("a", a, self.actions)
        successor, r = self._at("s_next", s_next, self.states), self._scaled(reward)
        if not self.features.can_follow(state, action, successor, h):
            why = "see reachable" if self.features.multinomial else "no model gives it a probability"
            raise InvalidValue(f"s_next = {s_next} is not reachable from state {s} with action {a}: {why}")
        if self._state.book.ended[state]:
            raise InvalidState(
                f"s = {s} ended an episode before, and now an action is taken in it; an end must be a state of its own: add one"
            )
        if room_for.knows(type(self.strategy)):
            room_for(self.strategy, self._state, state * self.actions + action, successor)
        return state, action, successor, r

    def _experience_step(self, s: int, a: int, reward: float, s_next: int) -> None:
        """Learn a step of a task without episodes: every step is the first of its stage, so that weights are over steps."""
        with self._lock:
            self._recover()
            state, action, successor, r = self._step(0, s, a, reward, s_next)
            self._begin(Doing([(EXPERIENCE, 0, state * self.actions + action, r, successor)], {}, []))

    @property
    def policy(self) -> NDArray[np.int64]:
        """The greedy actions of the current episode, (H, S)."""
        with self._lock:
            self._recover()
            self._running()
            policy: Integers = self._state.book.policy
            return policy.copy()

    @property
    def values(self) -> NDArray[np.float64]:
        """The optimistic values V (H+1, S) of the current episode."""
        with self._lock:
            self._recover()
            self._running()
            V: Matrix = self._state.book.V
            return V.copy()

    def evaluate(self, env: Any, episodes: int, *, seed: int | None = None) -> Played:
        """Play without learning: the policy that the next episode would be played with, planned from all that was learned so far.

        The agent stays as it is, to the bit. The policy is optimistic: what is unknown is still tried.
        """
        return play_policy(self._coming_policy(), env, episodes, actions=self.actions, seed=seed)

    def _coming_policy(self) -> NDArray[np.int64]:
        """The policy of the next episode, (H, S), planned on a copy."""
        with self._lock:
            state, rng = deepcopy(self._state), deepcopy(self._rng)
            self._shapes.check(state)
            for h in range(self._stage, self.horizon) if self._stage > 0 else ():
                self._direct(self.strategy, state, MISS, h, 0, 0.0, 0, rng)
            self._direct(self.strategy, state, PLAN, 0, 0, 0.0, 0, rng)
            policy: Integers = state.book.policy
            return policy

    def info(self) -> dict[str, Any]:
        """What the strategy tells about its state.

        Of all learners: the estimates (`theta`, `w`, or `expected_rewards` of a table), `effective_memory` (how many observations count),
        `saturation` (the share of Q at its cap), `bonus_share` (of Q), the radii, `ended` (states in which episodes ended), and of
        multinomial ones `certificate` and, unless their bonus is measured, `projected`. Where it is measured, `measured_noise` of the
        rewards and `imagined_visits` of a table. Of those that find out how fast to forget also `memory_of_rewards` and
        `memory_of_transitions`, 1/(1−γ) in episodes, None where nothing is forgotten, and the weights of the candidates.
        """
        with self._lock:
            self._recover()
            return report(self.strategy, self._state)

    def _packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return agent_file.pack_agent(self, self._task)

    @classmethod
    def _unpacked(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any) -> Self:
        return cast(Self, agent_file.unpack_agent(cls, about, arrays, **options))

    def __repr__(self) -> str:
        size = f"states={self.states}, actions={self.actions}, horizon={self.horizon}"
        return f"EpisodicAgent({type(self.strategy).__name__}, {size})"

    def _begin(self, doing: "Doing") -> None:
        """From here on it happens: now, or, if it is interrupted between two moves, before the next call does anything."""
        self._doing = doing
        self._finish(doing)

    def _recover(self) -> None:
        """Finish what was interrupted after its first move; forget what was interrupted before it."""
        doing = self._doing
        if doing is not None and doing.done:
            self._finish(doing)
        self._doing = None

    def _finish(self, doing: "Doing") -> None:
        state = self._state
        for move in doing.moves[len(doing.done) :]:
            self._check_fit(state, move)
            try:
                change(doing.done, self._direct, state, self._rng, self.strategy, state, *move, self._rng)
            except (ArithmeticError, ValueError) as problem:  # in interpreted code, where machine code goes on with NaN
                raise NumericalError(
                    f"the plan cannot be computed ({problem}): what was learned is outside of what observations can lead to; "
                    "load a saved agent, or make a new one"
                ) from None
        self.__dict__.update(doing.after, _doing=None)

    def _check_fit(self, state: Any, move: tuple[int, int, int, float, int]) -> None:
        """Raise if arrays do not fit each other, or a move does not fit them: compiled code checks no bounds."""
        if state is not self._checked:
            self._shapes.check(state)
            self._checked = state
        _, h, pair, _, successor = move
        if not (0 <= h < self.horizon and 0 <= pair < self.states * self.actions and 0 <= successor < self.states):
            raise InvalidShape(f"stage {h}, pair {pair}, successor {successor} are not all in this problem: {TORN}")

    def _scaled_task(self, task: Task) -> Task:
        """The problem with known rewards, if there are any, on the learner's scale."""
        if task.rewards is None:
            return task
        low, high = self.reward_range
        if task.rewards.min() < low or task.rewards.max() > high:
            raise InvalidValue(
                f"known_rewards span [{task.rewards.min():g}, {task.rewards.max():g}]; they must lie in "
                f"reward_range = ({low:g}, {high:g}): say reward_range=(low, high)"
            )
        return task._replace(rewards=(task.rewards - low) / (high - low))

    def _scaled(self, reward: float) -> float:
        """The reward on the learner's scale, [0, 1] but for noise that was announced."""
        r, (low, high) = real("reward", reward), self.reward_range
        planner = getattr(self.strategy, "base", self.strategy)  # what a chooser of memories plans with
        spread = NOISE_SPREAD * getattr(getattr(planner, "reward", None), "noise", 0.0)
        mapped = (r - low) / (high - low)
        if not -spread - ROUNDING <= mapped <= 1.0 + spread + ROUNDING:
            raise InvalidValue(
                f"reward = {reward!r} is not allowed; it must be in [{low:g}, {high:g}]: "
                "say reward_range=(low, high) if there are others"
            )
        return mapped

    def _running(self) -> None:
        if self._stage < 0:
            raise InvalidState("no episode is running: call begin_episode first")

    @staticmethod
    def _at(name: str, value: int, size: int) -> int:
        number = integer(name, value, least=0, why="it is an index")
        if number >= size:
            raise InvalidValue(f"{name} = {value} is not allowed; it must be in 0..{size - 1}")
        return number


def _range(given: Any) -> tuple[float, float]:
    """The least and the largest reward."""
    ends = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    require(len(ends) == 2, "reward_range", given, "(low, high)", "it is the least and the largest reward there can be")
    low, high = (real("reward_range", end) for end in ends)
    require(low < high, "reward_range", given, "(low, high) with low < high", "rewards are mapped to [0, 1]")
    return low, high


def _flag(name: str, given: Any) -> bool:
    """True or False; environments may say 1 and 0."""
    known = isinstance(given, bool | int | np.bool_ | np.integer) and given in (0, 1)
    require(known, name, given, "True or False", "any text, for one, would count as True")
    return bool(given)


@entry
def _turn(
    strategy: Any, state: Any, move: int, h: int, pair: int, r: float, successor: int, rng: np.random.Generator
) -> None:
    """Plan an episode, experience a stage of it, or miss one."""
    if move == END:  # what is left to earn there, the target of this observation and of all to come
        book = state.book
        book.ended[successor] = 1
        for left in range(book.V.shape[0]):
            book.V[left, successor] = (book.V.shape[0] - 1 - left) * book.idle[0]
    if move == PLAN:
        plan(strategy, state, rng)
    elif move in (EXPERIENCE, END):
        experience(strategy, state, h, pair, r, successor)
    else:
        miss(strategy, state, h)
