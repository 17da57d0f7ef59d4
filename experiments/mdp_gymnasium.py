"""Gymnasium's toy worlds and ten drifting variants: `weight_ucrl()` with nothing set next to Q-learning at its best setting.

Both know the number of states and actions, the range of the rewards and the time limit. Mean return over *all* episodes, exploration
included. Q-learning (one table, discount 0.99) has eight settings: step 0.1, 0.4, 0.8 or 1, ε = 0 or 0.1, and starts from 0, or from 1 in
the lakes, where nothing pays less than 0; the best of them on two other seeds plays. The variants were chosen before the first run on
them. The six of lakes 4×4 were looked at while the learner was designed, on other seeds; the other four were not:

    flipped map      the map of the lake is mirrored in the middle of the run
    turned actions   from the middle on, actions are exchanged: left with right, up with down (of Taxi also pickup with dropoff)
    slippery later   moves are certain at first and slip from the middle on, or the other way round
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study, table

TUNING, FIRST = (200, 201), 100  # seeds on which Q-learning is tuned, and the first of those on which both play
MAP_4 = ["SFFF", "FHFH", "FFFH", "HFFG"]
MAP_8 = ["SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"]


class Switching:
    """One environment after another, each for so many episodes, each with actions of its own order."""

    def __init__(self, envs: Sequence[Any], orders: Sequence[Sequence[int]], episodes: int) -> None:
        self.envs, self.orders, self.each = envs, orders, -(-episodes // len(envs))
        self.observation_space, self.action_space = envs[0].observation_space, envs[0].action_space
        self.k = -1

    def reset(self, *, seed: int | None = None) -> Any:
        """The next episode."""
        self.k += 1
        self.now = min(self.k // self.each, len(self.envs) - 1)
        first = self.k % self.each == 0
        return self.envs[self.now].reset(seed=seed if seed is not None else 1000 + self.now if first else None)

    def step(self, action: int) -> Any:
        """As the environment of this part of the run has it."""
        return self.envs[self.now].step(self.orders[self.now][action])


def mirrored(rows: Sequence[str]) -> list[str]:
    """The map as seen from the other side of its diagonal: start and goal stay."""
    return ["".join(row[i] for row in rows) for i in range(len(rows))]


def lake(rows: Sequence[str], slippery: bool) -> Any:
    """A FrozenLake."""
    return gymnasium.make("FrozenLake-v1", desc=list(rows), is_slippery=slippery, max_episode_steps=100)


LAKE_4, LAKE_8, CLIFF, TAXI = (
    (16, 4, 100, (0, 1)),
    (64, 4, 100, (0, 1)),
    (48, 4, 100, (-100, 0)),
    (500, 6, 30, (-10, 20)),
)
FLIPPED_4, FLIPPED_8 = (17, *LAKE_4[1:]), (65, *LAKE_8[1:])  # holes move: the end needs a state of its own
SAME_4, TURNED_LAKE, TURNED_CLIFF = (0, 1, 2, 3), (2, 3, 0, 1), (2, 3, 0, 1)
SAME_6, TURNED_TAXI = (0, 1, 2, 3, 4, 5), (1, 0, 3, 2, 5, 4)
Make = Callable[[int], Any]


def switch(first: Callable[[], Any], second: Callable[[], Any], order: Sequence[int] | None = None) -> Make:
    """The first world, then the second, with other actions."""
    same = SAME_6 if order is not None and len(order) == 6 else SAME_4
    return lambda K: Switching([first(), second()], [same, order or same], K)


def cliff() -> Any:
    """CliffWalking, with a limit."""
    return gymnasium.make("CliffWalking-v1", max_episode_steps=100)


def icy_cliff() -> Any:
    """The same, where moves slip."""
    return gymnasium.make("CliffWalking-v1", is_slippery=True, max_episode_steps=100)


def taxi() -> Any:
    """Taxi, with the limit of the plan."""
    return gymnasium.make("Taxi-v4", max_episode_steps=30)


WORLDS: dict[str, tuple[Make, tuple[Any, ...], int]] = {
    "FrozenLake 4×4": (lambda _: lake(MAP_4, True), LAKE_4, 1000),
    "FrozenLake 8×8": (lambda _: lake(MAP_8, True), LAKE_8, 1000),
    "CliffWalking": (lambda _: cliff(), CLIFF, 400),
    "Taxi": (lambda _: taxi(), TAXI, 1500),
    "lake 4×4, certain, flipped map": (switch(lambda: lake(MAP_4, False), lambda: lake(mirrored(MAP_4), False)), FLIPPED_4, 400),
    "lake 4×4, slippery, flipped map": (switch(lambda: lake(MAP_4, True), lambda: lake(mirrored(MAP_4), True)), FLIPPED_4, 1000),
    "lake 8×8, certain, flipped map": (switch(lambda: lake(MAP_8, False), lambda: lake(mirrored(MAP_8), False)), FLIPPED_8, 600),
    "lake 4×4, certain, turned actions": (switch(lambda: lake(MAP_4, False), lambda: lake(MAP_4, False), TURNED_LAKE), LAKE_4, 400),
    "lake 4×4, slippery, turned actions": (switch(lambda: lake(MAP_4, True), lambda: lake(MAP_4, True), TURNED_LAKE), LAKE_4, 1000),
    "lake 4×4, slippery later": (switch(lambda: lake(MAP_4, False), lambda: lake(MAP_4, True)), LAKE_4, 1000),
    "lake 4×4, certain later": (switch(lambda: lake(MAP_4, True), lambda: lake(MAP_4, False)), LAKE_4, 1000),
    "cliff, turned actions": (switch(cliff, cliff, TURNED_CLIFF), CLIFF, 400),
    "cliff, slippery later": (switch(cliff, icy_cliff), CLIFF, 400),
    "Taxi, turned actions": (switch(taxi, taxi, TURNED_TAXI), TAXI, 1500),
}  # fmt: skip


def mean_return(name: str, setting: list[float] | None, seed: int, most: int | None) -> float:
    """A cell: of Q-learning with a (step, ε), or of `weight_ucrl()`; at `most` so many episodes."""
    make, (states, actions, horizon, rewards), K = WORLDS[name]
    K = K if most is None else min(K, most)
    player: Any
    if setting is None:
        table = db.mdp.tabular(states, actions)
        player = db.EpisodicAgent(
            db.zoo.weight_ucrl(), table, horizon=horizon, reward_range=rewards, replan=True, seed=seed
        )
    else:
        player = db.mdp.baselines.QLearning(
            states=states, actions=actions, horizon=horizon, reward_range=rewards, step=setting[0], epsilon=setting[1],
            discount=0.99, share_stages=True, start=float(rewards == (0, 1)), seed=seed,
        )  # fmt: skip
    return float(db.run(player, make(K), episodes=K, seed=seed).returns.mean())


def returns_table(found: Mapping[str, Any]) -> str:
    """Mean return over all episodes; the better one is bold."""
    rows = []
    for row in found["rows"]:
        means = [float(np.mean(row[name])) for name in ("weight_ucrl()", "Q-learning")]
        cells = [f"{mean:.2f}".replace("-", "−") for mean in means]
        better = 0 if means[0] >= means[1] else 1
        cells[better] = f"**{cells[better]}**"
        gain = np.subtract(row["weight_ucrl()"], row["Q-learning"])
        error = f"{gain.std(ddof=1) / len(gain) ** 0.5:.2f}" if len(gain) > 1 else "–"
        rows.append([row["world"], *cells, error, row["setting"]])
    heads = ["`weight_ucrl()`", "Q-learning", "standard error of the difference", "setting of Q-learning"]
    return table(["mean return over all episodes", *heads], rows)


@study(
    tiny={"trials": 1, "worlds": ("lake 4×4, certain, flipped map",), "most": 2},
    tables={"mdp_gymnasium": returns_table},
    also=frozenset({"agent", "integrations"}),
)
def mdp_gymnasium(
    cells: Cells, *, trials: int = 3, worlds: Sequence[str] = tuple(WORLDS), most: int | None = None
) -> Report:
    """Gymnasium's toy worlds and ten drifting variants: `weight_ucrl()` next to Q-learning at its best setting."""
    settings = {f"step {a:g}, ε {e:g}": [a, e] for a in (0.1, 0.4, 0.8, 1.0) for e in (0.0, 0.1)}
    rows = []
    for name in worlds:
        same = {"name": name, "most": most}
        asked = [same | {"setting": own, "seed": seed} for own in settings.values() for seed in TUNING]
        tuned = np.reshape(cells(mean_return, asked), (len(settings), len(TUNING))).mean(axis=1)
        best = list(settings)[int(tuned.argmax())]
        judged = [same | {"setting": own, "seed": FIRST + i} for own in (None, settings[best]) for i in range(trials)]
        mine, other = np.reshape(cells(mean_return, judged), (2, trials)).tolist()
        rows.append({"world": name, "weight_ucrl()": mine, "Q-learning": other, "setting": best})
    return Report({"rows": rows})
