r"""The compiled loop over episodes, and trials of it on threads.

episode k:  plan;   regret += V*_1(s_1) − V^π_1(s_1), both exact;   roll out π and learn every stage
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import entry, kernel
from ..core.linalg import Matrix, Vector, dot
from ..errors import InvalidShape, InvalidValue, NumericalError, integer
from ..protocol import Integers
from ..simulate.runs import Seed, seed_sequence
from ..util.notebook import card, draw_regret, lines
from ..util.words import counted
from .environment import MDP
from .features import Features, check_known
from .function_path import BLOCK
from .planning import evaluate
from .protocol import Cube, experience, open_book, plan, report, settled, transition_row
from .python_learners import Learner, episodes_of, is_learner


@dataclass(frozen=True, repr=False)
class EpisodicRun:
    """What a simulation of an MDP leaves behind."""

    regret: Vector  # (K,) cumulative dynamic regret, exact
    info: dict[str, Any] = field(default_factory=dict)  # what the strategy tells about its final state
    seconds: float = 0.0  # wall-clock time of the loop, compilation aside
    states: NDArray[np.int64] | None = None  # (K, H+1) visited, with record=True
    actions: NDArray[np.int64] | None = None  # (K, H)
    rewards: Matrix | None = None  # (K, H) as the learner saw them
    Q: NDArray[np.float64] | None = None  # (K, H, S, A) as planned

    @property
    def episodes(self) -> NDArray[np.int64]:
        """1..K, for plots."""
        return np.arange(1, len(self.regret) + 1)

    def __repr__(self) -> str:
        return f"EpisodicRun({counted(len(self.regret), 'episode')}, regret {self.regret[-1]:.4g})"

    def _repr_html_(self) -> str:
        """Its numbers and its regret over time, for notebooks."""
        rows = {
            "episodes": f"{len(self.regret):,}",
            "regret": f"{self.regret[-1]:.4g}",
            "seconds": f"{self.seconds:.3g}",
        }
        return card("EpisodicRun", rows, lines(self.episodes, [self.regret], "regret"))

    def plot(self, *, ax: Any = None, label: str | None = None) -> Any:
        """Plot the regret after each episode; returns the matplotlib axes, which may be passed on to the next run."""
        return draw_regret(self.episodes, self.regret, "episode", ax, label)


class Rollout(NamedTuple):
    """Workspace and log of the compiled loop."""

    row: Vector  # (S,) transitions of one pair
    V: Matrix  # (H+1, S) its exact values
    total: Vector  # (1,) regret so far
    states: Integers  # (K, H+1); this and what follows has length 0 if nothing is recorded
    actions: Integers  # (K, H)
    rewards: Matrix  # (K, H)
    Q: Cube  # (K, H, S·A)


def simulate_mdp(
    strategy: Any,
    mdp: MDP,
    *,
    episodes: int | None = None,
    seed: Seed = 0,
    record: bool = False,
    features: Features | None = None,
) -> EpisodicRun:
    """Run a strategy in a drifting MDP.

    Parameters
    ----------
    strategy
        From `zoo`, e.g. `weight_ucrl()`. Or a learner of your own in plain Python, a fresh one for every run: an object with
        `begin_episode()`, `observe(h, s, a, reward, s_next)` and `policy`, its actions (H, S) or their probabilities (H, S, A).
    mdp
        From `mdp`.
    episodes
        The first so many episodes of the MDP; by default all.
    seed
        Of transitions, reward noise and tie-breaks. All strategies meet the same random numbers under the same seed.
    record
        Keep states, actions, rewards and, of strategies, plans.
    features
        What the learner knows, e.g. `tabular(S, A)`; by default the features of the MDP.

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.mdp.riverswim(episodes=200, horizon=6, drift="gradual")
    >>> strategy = db.zoo.weight_ucrl(gamma=0.95, lam_theta=2, lam_w=72, delta=0.001, transition_bonus_scale=0.1, **world.bounds)
    >>> run = db.simulate_mdp(strategy, world, episodes=200, seed=0)
    >>> run.regret.shape, bool((np.diff(run.regret) >= -1e-9).all())
    ((200,), True)
    """
    if not isinstance(mdp, MDP):
        raise InvalidValue(f"mdp = {mdp!r:.60} is no world; make one with db.mdp, e.g. db.mdp.riverswim(episodes=1000)")
    K = mdp.episodes if episodes is None else integer("episodes", episodes, least=1, why="it counts episodes")
    if mdp.episodes < K:
        raise InvalidValue(f"episodes = {K} is not allowed; the MDP has {mdp.episodes}: its parameters end there")
    # Streams of their own for transitions, ties and noise: a shorter run is the beginning of a longer one.
    chance, rng, disturbance = (np.random.default_rng(s) for s in seed_sequence(seed).spawn(3))
    if is_learner(strategy):
        if features is not None:
            raise InvalidValue("features are for strategies of the zoo; a learner of your own knows what you tell it")
        return _of_own(strategy, mdp, K, chance, rng, disturbance, record)
    S, A, H = mdp.states, mdp.actions, mdp.horizon
    known = mdp.task if features is None else _fitting(check_known(features), mdp).task(mdp.horizon, K)
    strategy, task = settled(strategy, known._replace(episodes=K))
    state = open_book(strategy, task)
    regret = np.zeros(K)
    log = _blank_rollout(mdp, K, record)
    world, fixed = (mdp.private_dynamics(), mdp.reward_rows), (mdp.start, mdp.optimal)
    blank = np.zeros((1, H))
    play = _episodes.direct(
        strategy, state, *world, mdp.theta[:1], mdp.w[:1], *fixed, 0, blank, blank, rng, regret, log
    )
    began = time.perf_counter()
    for first in range(0, K, BLOCK):
        fate = chance.random((min(BLOCK, K - first), H))
        noise = mdp.noise * disturbance.standard_normal(fate.shape) if mdp.noise > 0.0 else np.zeros(fate.shape)
        drifting = mdp.theta[first : first + BLOCK], mdp.w[first : first + BLOCK]
        play(strategy, state, *world, *drifting, *fixed, first, fate, noise, rng, regret, log)
    seconds = time.perf_counter() - began
    if not np.isfinite(regret[-1]) or not np.isfinite(state.book.Q).all():
        raise NumericalError(
            "the plan is not finite: the estimate could not be computed; a larger lam_w or a smaller S_w helps"
        )
    info = report(strategy, state)
    if not record:
        return EpisodicRun(regret, info, seconds)
    return EpisodicRun(regret, info, seconds, log.states, log.actions, log.rewards, log.Q.reshape(K, H, S, A))


def _of_own(
    learner: Learner,
    mdp: MDP,
    K: int,
    chance: np.random.Generator,
    rng: np.random.Generator,
    disturbance: np.random.Generator,
    record: bool,
) -> EpisodicRun:
    """The run of a user's learner, which meets the same random numbers as a strategy."""
    mdp.optimal  # noqa: B018 - computed once, before the clock starts
    began = time.perf_counter()
    fate = chance.random((K, mdp.horizon))
    noise = mdp.noise * disturbance.standard_normal(fate.shape)
    lost, *log = zip(*episodes_of(learner, mdp, fate, noise, rng), strict=True)
    seconds = time.perf_counter() - began
    info = learner.info() if hasattr(learner, "info") else {}
    states, actions, rewards = (np.array(column) for column in log) if record else (None, None, None)
    return EpisodicRun(np.cumsum(lost), info, seconds, states, actions, rewards)


def _blank_rollout(mdp: MDP, K: int, record: bool) -> Rollout:
    """Workspace, and room for K episodes if they are recorded."""
    S, A, H = mdp.states, mdp.actions, mdp.horizon
    kept = K if record else 0
    return Rollout(
        row=np.zeros(S),
        V=np.zeros((H + 1, S)),
        total=np.zeros(1),
        states=np.zeros((kept, H + 1), np.int64),
        actions=np.zeros((kept, H), np.int64),
        rewards=np.zeros((kept, H)),
        Q=np.zeros((kept, H, S * A)),
    )


def _fitting(features: Features, mdp: MDP) -> Features:
    """What the learner knows must be of the size of the MDP, and on its scale of rewards."""
    if (features.states, features.actions) != (mdp.states, mdp.actions):
        raise InvalidShape(f"{features} does not fit an MDP of {mdp.states} states and {mdp.actions} actions")
    pay = features.rewards
    if pay is not None and not (pay.min() >= 0.0 and pay.max() <= 1.0):
        raise InvalidValue(
            f"known_rewards span [{pay.min():g}, {pay.max():g}]; rewards of an MDP lie in [0, 1]: rescale them"
        )
    return features


def trials_mdp(
    strategy: Any,
    problem: Callable[[int], MDP],
    *,
    trials: int = 20,
    seed: int = 0,
    jobs: int | None = None,
    **options: Any,
) -> list[EpisodicRun]:
    """Simulate independent trials on threads; trial i runs in the MDP `problem(i)` with chance of its own.

    For learners of your own `strategy` is a function of the trial that makes a fresh one, `lambda trial: Mine()`. The result does not
    depend on `jobs`, by default the number of cores.
    """
    count = integer("trials", trials, least=1, why="at least one run is needed")
    if not callable(problem):
        raise InvalidValue(f"problem = {problem!r:.60} must be a function of the trial: say lambda trial: world")
    if is_learner(strategy):
        raise InvalidValue(
            "strategy is one learner, and every trial needs a fresh one; give a function that makes it: lambda trial: Mine()"
        )
    workers = os.cpu_count() if jobs is None else integer("jobs", jobs, least=1, why="it is the number of threads")

    def one(i: int) -> EpisodicRun:
        player = strategy(i) if callable(strategy) else strategy
        return simulate_mdp(player, problem(i), seed=np.random.SeedSequence([seed, i]), **options)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, range(count)))


@entry
def _episodes(
    strategy: Any,
    state: Any,
    dynamics: Any,
    phi: Cube,
    theta: Cube,
    w: Cube,
    start: Integers,
    best: Vector,
    first: int,
    fate: Matrix,
    noise: Matrix,
    rng: np.random.Generator,
    regret: Vector,
    log: Rollout,
) -> None:
    """Play the block of episodes from `first`; theta and w are those of the block."""
    S, H = log.row.shape[0], fate.shape[1]
    A = phi.shape[1] // S
    for j in range(fate.shape[0]):
        k = first + j
        plan(strategy, state, rng)
        if log.Q.shape[0] > 0:
            for h in range(H):
                for n in range(phi.shape[1]):
                    log.Q[k, h, n] = state.book.Q[h, n]
        policy = state.book.policy
        evaluate(dynamics, phi, theta[j], w[j], policy, log.row, log.V)
        s = start[k]
        # Both values are exact, so the regret has no sampling error of its own; the roll-out below only feeds the learner.
        log.total[0] += best[k] - log.V[0, s]
        regret[k] = log.total[0]
        for h in range(H):
            pair = s * A + policy[h, s]
            r = dot(phi[h % phi.shape[0], pair], theta[j, h % theta.shape[1]]) + noise[j, h]
            transition_row(dynamics, h % phi.shape[0] * phi.shape[1] + pair, w[j, h % w.shape[1]], log.row)
            successor = _draw(log.row, fate[j, h])
            experience(strategy, state, h, pair, r, successor)
            if log.actions.shape[0] > 0:
                log.states[k, h] = s
                log.states[k, h + 1] = successor
                log.actions[k, h] = pair - s * A
                log.rewards[k, h] = r
            s = successor


@kernel
def _draw(p: Vector, u: float) -> int:
    """The state whose share of [0, 1) holds u; rounding at the end goes to the last possible state."""
    last = 0
    for s in range(p.shape[0]):
        if p[s] > 0.0:
            last = s
            if u < p[s]:
                return s
        u -= p[s]
    return last
