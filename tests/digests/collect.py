"""What the library computes, as a flat table of records: name → a hash of every choice, and the numbers that came of them.

A record covers one learner in one small fixed world. The hash tells *that* a decision changed; the numbers tell by how much.
Records are grouped, so that a run without the compiler can leave out what takes minutes there.

=========  =====================================================================================  ==================
group      what it covers                                                                         number of rounds
=========  =====================================================================================  ==================
zoo        choices and regret of the example of every record of the zoo, and the contract's rows  40
mdp        states, actions and regret of every episodic record, and of a table with nothing set   8 episodes
bandit     `Bandit` over feature modes × on time, late, replaced, ranking, durable                45
panel      the first trial of every policy of every panel, at its tiny size                       the panel's own
=========  =====================================================================================  ==================
"""

import hashlib
import pathlib
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from table import ROWS, make, world

import driftbandits as db
from driftbandits.experiment.run import cells, plan
from driftbandits.experiment.spec import experiment, panels
from driftbandits.zoo.record import records

#: They search a confidence set by branch and bound, which takes minutes without the compiler.
SEARCHING = ("scb_pw_weight_ucb", "ofu_log")
#: Policies of panels whose tiny size takes more than some seconds without the compiler.
LONG_PANELS = ("piecewise", "scaling", "mdp-mnl")


class Digest(NamedTuple):
    """One record: 12 hexadecimal digits of SHA-256 over all choices, and a few numbers."""

    choices: str
    numbers: tuple[float, ...]


class Work(NamedTuple):
    """A record that can be computed, and whether it takes long without the compiler."""

    name: str
    compute: Callable[[], Digest]
    long: bool


def works() -> Iterator[Work]:
    """All records, group by group."""
    yield from _zoo()
    yield from _mdp()
    yield from bandit_works()
    yield from _panels()


def _hash(values: Any) -> str:
    """Of a sequence of integers or names, in order."""
    return hashlib.sha256("\n".join(map(str, values)).encode()).hexdigest()[:12]


# ------------------------------------------------------------------------------------------------------------------- zoo


def _zoo() -> Iterator[Work]:
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((8, 3))
    arms = arms / np.linalg.norm(arms, axis=1, keepdims=True) * rng.uniform(0.5, 1.0, (8, 1))

    def compute(name: str) -> Digest:
        run = db.simulate(make(name), world(name, arms), seed=1, checkpoints="all")
        return Digest(_hash(run.choices), (float(run.regret[len(run.regret) // 2]), float(run.regret[-1])))

    for name in ROWS:
        yield Work(f"zoo/{name}", lambda name=name: compute(name), name in SEARCHING)


# ------------------------------------------------------------------------------------------------------------------- mdp


def _mdp() -> Iterator[Work]:
    def compute(strategy: Any, mdp: Any, episodes: int) -> Digest:
        run = db.simulate_mdp(strategy, mdp, episodes=episodes, seed=1, record=True)
        moves = np.concatenate([run.states.ravel(), run.actions.ravel()])
        return Digest(_hash(moves), (float(run.regret[episodes // 2]), float(run.regret[-1])))

    for record in records():
        if record.family == "mdp":
            maker = db.mdp.random_linear_mixture if record.world == "linear mixture" else db.mdp.random_mnl
            mdp = maker(states=3, actions=2, horizon=3, dim=2, episodes=8, seed=0)
            yield Work(f"mdp/{record.name}", lambda r=record, m=mdp: compute(r.build(), m, 8), False)
    river = db.mdp.riverswim(episodes=20, horizon=6)
    yield Work("mdp/nothing set, riverswim", lambda: compute(db.zoo.weight_ucrl(), river, 20), False)
    yield Work("mdp/nothing set, table", _table_agent, False)


def _table_agent() -> Digest:
    """The episodic agent that is told the number of states and actions only."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(4, 2), horizon=5, seed=3)
    rng = np.random.default_rng(4)
    seen, total = [], 0.0
    for _ in range(20):
        agent.begin_episode()
        state = 0
        for stage in range(5):
            action = agent.act(stage, state)
            following = min(state + 1, 3) if action and rng.random() < 0.7 else max(state - 1, 0)
            reward = float(following == 3)
            agent.observe(stage, state, action, reward, following)
            seen += [state, action]
            state, total = following, total + reward
    return Digest(_hash(seen), (total, float(np.sum(agent.values))))


# ---------------------------------------------------------------------------------------------------------------- bandit

MODES = ("item", "interact", "disjoint", "hybrid")
ROUNDS = 45


def _offers(n: int) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, float]]]:
    """Offers with numbers and categories, a context, and what each item is worth; the best kind of item changes half way."""
    rng = np.random.default_rng(11)
    for t in range(n):
        names = ("a", "b", "c", "d")[: 3 + (t > n // 3)]  # one item is new after a third
        items = {name: {"price": float(rng.uniform(1, 5)), "kind": str(rng.choice(["new", "used"]))} for name in names}
        context = {"age": float(rng.integers(18, 80)), "country": str(rng.choice(["se", "fr"]))}
        sign = 1.0 if t < n // 2 else -1.0
        worth = {k: 3 - f["price"] + sign * (f["kind"] == "new") + 0.3 * rng.normal() for k, f in items.items()}
        yield items, context, worth


def _play(bandit: Any, *, late: int = 0, replaced: bool = False, k: int = 1) -> Digest:
    chosen: list[str] = []
    waiting: list[tuple[str, Any]] = []
    propensity = 0.0
    for t, (items, context, worth) in enumerate(_offers(ROUNDS)):
        decision = bandit.decide(items, context, at=1_000_000 + 60 * t, k=k)
        chosen += decision.items
        propensity += float(np.log(decision.propensity)) if k == 1 else 0.0
        answer: Any = {name: worth[name] for name in decision.items} if k > 1 else worth[decision.item]
        waiting.append((decision.id, answer))
        if len(waiting) > late:
            identity, value = waiting.pop(0)
            bandit.reward(identity, value, at=1_000_000 + 60 * t + 1)
            if replaced and t % 3 == 0:
                bandit.reward(identity, value + 1.0, at=1_000_000 + 60 * t + 2)
    estimates = bandit.estimate(*list(_offers(ROUNDS))[-1][:2])
    return Digest(_hash(chosen), (propensity, *(value for e in estimates.values() for value in (e.mean, e.sd))))


def _durable(mode: str) -> Digest:
    """Written to a file, closed in the middle and opened again."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "shop.bandit"
        with db.Bandit.open(path, features=mode, seed=5) as bandit:
            first = _play(bandit, late=4)
        with db.Bandit.open(path, features=mode, seed=5) as bandit:
            second = _play(bandit)
    return Digest(_hash([first.choices, second.choices]), first.numbers + second.numbers)


def bandit_works() -> Iterator[Work]:
    """Records of `Bandit`. Without the compiler two are computed in `make test`; tests/unit/bandit/test_digests.py has them compiled."""
    for mode in MODES:
        long = mode not in (
            "interact",
            "disjoint",
        )  # the four words are one model; these two have all kinds of its columns
        yield Work(f"bandit/{mode}", lambda m=mode: _play(db.Bandit(features=m, seed=5)), long)
        yield Work(f"bandit/{mode}, late", lambda m=mode: _play(db.Bandit(features=m, seed=5), late=7), True)
        yield Work(
            f"bandit/{mode}, replaced",
            lambda m=mode: _play(db.Bandit(features=m, seed=5, on_repeat="replace"), replaced=True),
            True,
        )
        yield Work(f"bandit/{mode}, ranking", lambda m=mode: _play(db.Bandit(features=m, seed=5), k=2), True)
        yield Work(f"bandit/{mode}, durable", lambda m=mode: _durable(m), True)
    yield Work("bandit/half-life of 30 decisions", lambda: _play(db.Bandit(half_life=30, seed=5)), True)
    yield Work("bandit/half-life of an hour", lambda: _play(db.Bandit(half_life="1h", seed=5)), True)


# ----------------------------------------------------------------------------------------------------------------- panels


def _panels() -> Iterator[Work]:
    for panel in panels.names():
        whole = plan.plan(experiment.load(panels.file(panel), tiny=True, trials=1), yes=True)
        for cell in whole.cells:
            yield Work(
                f"panel/{panel}/{cell.strategy} @ {cell.environment}", lambda c=cell: _cell(c), panel in LONG_PANELS
            )


def _cell(cell: cells.Cell) -> Digest:
    """The first trial of a policy; its curve of regret stands for its choices."""
    result = cells.run({**cell.spec, "repeats": 1})
    return Digest(_hash(f"{value:.9e}" for value in result.regret), (float(result.regret[-1]),))
