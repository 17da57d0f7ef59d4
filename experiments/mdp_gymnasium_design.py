"""Design worlds for the learner of tables: other maps, changes and times than those of `mdp_gymnasium`, on other seeds.

What is chosen about the learner is chosen here; `mdp_gymnasium` is played once, afterwards. Returns are means over all episodes. The shop
and the river are there because what helps in lakes has hurt in them: their rewards drift, or are far away.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from mdp_gymnasium import CLIFF, LAKE_4, LAKE_8, TAXI, Make, Switching, cliff, icy_cliff, lake, mirrored, taxi

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study

MAPS = (["SFFF", "FFHF", "HFFF", "FFHG"], ["SFHF", "FFFF", "FHFF", "FFFG"])
WIDE = ["SFFFFHFF", "FFHFFFFF", "FFFFHFFF", "HFFFFFFF", "FFFHFFHF", "FFFFFFFF", "FHFFHFFF", "FFFFFFFG"]
QUARTER, HALF, SWAPPED = (1, 2, 3, 0), (2, 3, 0, 1), (0, 1, 3, 2, 4, 5)  # orders of actions
END_4 = (LAKE_4[0] + 1, *LAKE_4[1:])  # holes move: the end needs a state of its own


class Once(Switching):
    """The first world for a share of the episodes, then the second."""

    def __init__(self, envs: Sequence[Any], orders: Sequence[Sequence[int]], change: int) -> None:
        super().__init__(envs, orders, 2 * change)

    def reset(self, *, seed: int | None = None) -> Any:
        """The next episode."""
        self.k += 1
        self.now = int(self.k >= self.each)
        return self.envs[self.now].reset(seed=2000 + self.now if seed is None and self.k == self.each else seed)


def change(first: Any, second: Any, after: float = 0.4, order: Sequence[int] | None = None) -> Make:
    """Another world, or another order of actions, after a share of the episodes."""
    same = tuple(range(len(order) if order is not None else 4))
    return lambda K: Once([first(), second()], [same, order or same], max(1, int(after * K)))


def slippery(rows: Sequence[str]) -> Any:
    """How to make a lake that slips."""
    return lambda: lake(rows, True)


def certain(rows: Sequence[str]) -> Any:
    """How to make a lake that does not."""
    return lambda: lake(rows, False)


A, B = MAPS
GYMNASIUM: dict[str, tuple[Make, tuple[Any, ...], int]] = {
    "lake A, slippery": (lambda _: lake(A, True), LAKE_4, 600),
    "lake A, slippery, quarter turn": (change(slippery(A), slippery(A), order=QUARTER), LAKE_4, 800),
    "lake B, slippery, half turn": (change(slippery(B), slippery(B), 0.3, HALF), LAKE_4, 800),
    "lake A, slippery, flipped": (change(slippery(A), slippery(mirrored(A))), END_4, 800),
    "lake A, certain, quarter turn": (change(certain(A), certain(A), order=QUARTER), LAKE_4, 400),
    "lake A, certain, then B": (change(certain(A), certain(B)), END_4, 400),
    "lake A, certain later": (change(slippery(A), certain(A)), LAKE_4, 600),
    "lake A, slippery later": (change(certain(A), slippery(A)), LAKE_4, 600),
    "lake 8×8, slippery": (lambda _: lake(WIDE, True), LAKE_8, 600),
    "cliff, quarter turn": (change(cliff, cliff, order=QUARTER), CLIFF, 300),
    "cliff, certain later": (change(icy_cliff, cliff), CLIFF, 300),
    "Taxi, swapped actions": (change(taxi, taxi, order=SWAPPED), TAXI, 1000),
}
DRIFTS = ("static", "gradual", "abrupt")
TABLES: dict[str, Any] = {
    f"the shop, {d}": (lambda K, d=d: db.mdp.inventory(episodes=K, drift=d), 2000) for d in DRIFTS
}
TABLES |= {f"river, {d}": (lambda K, d=d: db.mdp.riverswim(episodes=K, drift=d), 1000) for d in DRIFTS}


def played(name: str, seed: int, most: int | None) -> float:
    """A cell: mean return of `weight_ucrl()` with nothing set; in the shop and the river its final regret."""
    if name in TABLES:
        make, K = TABLES[name]
        world = make(K if most is None else min(K, most))
        table = db.mdp.tabular(world.states, world.actions)
        return float(db.simulate_mdp(db.zoo.weight_ucrl(), world, seed=seed, features=table).regret[-1])
    make, (states, actions, horizon, rewards), K = GYMNASIUM[name]
    K = K if most is None else min(K, most)
    agent = db.EpisodicAgent(
        db.zoo.weight_ucrl(),
        db.mdp.tabular(states, actions),
        horizon=horizon,
        reward_range=rewards,
        replan=True,
        seed=seed,
    )
    return float(db.run(agent, make(K), episodes=K, seed=seed).returns.mean())


@study(
    tiny={"seeds": (300,), "worlds": ("lake A, certain, then B", "river, static"), "most": 2},
    also=frozenset({"agent", "integrations"}),
)
def mdp_gymnasium_design(
    cells: Cells,
    *,
    seeds: Sequence[int] = (300, 301),
    worlds: Sequence[str] = (*GYMNASIUM, *TABLES),
    most: int | None = None,
) -> Report:
    """Worlds and seeds on which the learner of tables is designed; nothing of it is reported."""
    asked = [{"name": name, "seed": seed, "most": most} for name in worlds for seed in seeds]
    found = np.reshape(cells(played, asked), (len(worlds), len(seeds)))
    return Report({"rows": [{"world": name, "found": row.tolist()} for name, row in zip(worlds, found, strict=True)]})
