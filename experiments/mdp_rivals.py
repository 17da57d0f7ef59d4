"""What reinforcement-learning users would pick, next to `weight_ucrl`, in small drifting MDPs that nobody knows anything about.

All learners see states, actions and rewards only (`mdp.tabular` for ours), H stages, K episodes. Every learner has six settings; the one
with the least regret on the tuning seeds is played on the seeds that are reported. `weight_ucrl()` without any setting stands beside them.

    Q-learning     Q_h(s,a) ← (1−α)Q_h + α(r + max Q_{h+1}(s')), from Q = H − h, ε-greedy; constant α forgets
    PSRL           plans in a world drawn from the posterior (Osband, Russo, Van Roy 2013); counts fade by γ per episode
    UCBVI          plans with the bonus c(H−h)/√n (Azar, Osband, Munos 2017); counts fade by γ per episode
    weight_ucrl    tables of this library, with a half-life in episodes and a scale of its bonus

Regret is exact: V* less the value of the policy that is played, by backward evaluation.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study

TUNING, REPORTED = 1000, 0  # first seeds


# ------------------------------------------------------------------------------------------------------------------ worlds


LAKE = ("SFFF", "FHFH", "FFFH", "HFFG")  # FrozenLake 4×4: start, frozen, hole, goal


def lake(*, episodes: int, drift: Any, rows: Sequence[str] = LAKE, horizon: int = 12) -> db.mdp.MDP:
    """The map of a FrozenLake, n×n, on which a wind that turns deflects every third step; being at the goal pays."""
    n, field, moves = len(rows), "".join(rows), ((0, -1), (1, 0), (0, 1), (-1, 0))
    S = n * n

    def step(s: int, a: int) -> int:
        r, c = (int(np.clip(x + dx, 0, n - 1)) for x, dx in zip(divmod(s, n), moves[a], strict=True))
        return n * r + c

    winds = np.zeros((S, 4, S, 2))
    for s, a, w in np.ndindex(S, 4, 2):
        aside = (a + (1 if w == 0 else -1)) % 4
        for to, p in ((step(s, a), 2 / 3), (step(s, aside), 1 / 3)):
            winds[s, a, s if field[s] in "HG" else to, w] += p
    pay = np.zeros((S, 4, 1))
    pay[S - 1] = 1.0
    phase = db.mdp.phase(episodes, drift)
    w = np.column_stack([1 - phase, phase])
    return db.mdp.linear_mixture(pay, winds, np.ones((episodes, 1)), w, horizon=horizon)


WORLDS: dict[str, Callable[..., db.mdp.MDP]] = {
    "windy lake": lake,
    "RiverSwim": lambda **c: db.mdp.riverswim(horizon=10, **c),
    "inventory": lambda **c: db.mdp.inventory(**c),
}


# ---------------------------------------------------------------------------------------------------------------- learners


OURS, BASELINES = "weight_ucrl, tuned", db.mdp.baselines
RIVALS = {  # with the names of their two settings
    "Q-learning": (BASELINES.QLearning, ("step", "epsilon")),
    "PSRL": (BASELINES.PSRL, ("fade", "prior")),
    "UCBVI": (BASELINES.UCBVI, ("fade", "scale")),
}
SETTINGS = {
    "Q-learning": list(itertools.product((0.05, 0.15, 0.4), (0.0, 0.05))),
    "PSRL": list(itertools.product((1.0, 0.99, 0.95), (0.1, 1.0))),
    "UCBVI": list(itertools.product((1.0, 0.99, 0.95), (0.03, 0.15))),
    OURS: list(itertools.product((1e6, 70.0, 14.0), (0.1, 0.3))),  # half-life in episodes, scale of the bonus
}


def final_regret(learner: str, setting: list[float] | None, world: str, drift: str, K: int, seed: int) -> float:
    """A cell; no setting means the defaults of `weight_ucrl`."""
    place = WORLDS[world](episodes=K, drift=drift)
    if learner in RIVALS and setting is not None:
        make, names = RIVALS[learner]
        sizes = {"states": place.states, "actions": place.actions, "horizon": place.horizon, "seed": seed}
        player = make(**sizes, **dict(zip(names, setting, strict=True)))
        return float(db.simulate_mdp(player, place, seed=seed).regret[-1])
    given: dict[str, float] = {}
    if setting is not None:
        scales = dict.fromkeys(("reward_bonus_scale", "transition_bonus_scale"), setting[1])
        given = {"half_life": setting[0], **scales}
    table = db.mdp.tabular(place.states, place.actions)
    return float(db.simulate_mdp(db.zoo.weight_ucrl(**given), place, seed=seed, features=table).regret[-1])


# ------------------------------------------------------------------------------------------------------------------- study


def summary(runs: list[float]) -> dict[str, float]:
    """Mean and standard error."""
    return {"mean": float(np.mean(runs)), "error": float(np.std(runs, ddof=1) / np.sqrt(len(runs)))}


@study(tiny={"K": 6, "trials": 2, "tuning_seeds": 1, "worlds": ("RiverSwim",)})
def mdp_rivals(
    cells: Cells,
    *,
    K: int = 1000,
    trials: int = 20,
    tuning_seeds: int = 2,
    worlds: Sequence[str] = tuple(WORLDS),
) -> Report:
    """What reinforcement-learning users would pick, next to `weight_ucrl`, in small drifting MDPs."""
    places = [{"world": world, "drift": drift, "K": K} for world in worlds for drift in ("gradual", "abrupt")]

    def regrets(asked: list[dict[str, Any]], seeds: range) -> list[list[float]]:
        found = cells(final_regret, [given | {"seed": seed} for given in asked for seed in seeds])
        return np.reshape(found, (len(asked), len(seeds))).tolist()

    # Choose each learner's setting on seeds of their own.
    tried = [
        place | {"learner": name, "setting": list(setting)}
        for place in places
        for name, settings in SETTINGS.items()
        for setting in settings
    ]
    means = np.mean(regrets(tried, range(TUNING, TUNING + tuning_seeds)), axis=1).reshape(
        len(places), len(SETTINGS), -1
    )
    # Play the chosen ones, and ours with none.
    asked = []
    for place, best in zip(places, means.argmin(axis=2), strict=True):
        for (name, settings), index in zip(SETTINGS.items(), best, strict=True):
            asked.append(place | {"learner": name, "setting": list(settings[index])})
        asked.append(place | {"learner": "weight_ucrl()", "setting": None})
    tables: dict[str, dict[str, Any]] = {}
    for given, runs in zip(asked, regrets(asked, range(REPORTED, REPORTED + trials)), strict=True):
        title = f"{given['world']}, {given['drift']}"
        if title not in tables:
            random = db.mdp.uniform_regret(WORLDS[given["world"]](episodes=K, drift=given["drift"]))
            tables[title] = {"random play": {"mean": float(random[-1]), "error": 0.0}}
        chosen = {} if given["setting"] is None else {"setting": given["setting"]}
        tables[title][given["learner"]] = summary(runs) | chosen
    return Report({"episodes": K, "trials": trials, "tuning_seeds": tuning_seeds, "worlds": tables})
