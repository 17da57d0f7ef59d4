"""What reinforcement-learning users would pick, next to `weight_ucrl`, in small drifting MDPs that nobody knows anything about.

    python experiments/mdp_rivals.py                 # about twenty minutes on two cores; writes docs/results/mdp_rivals.json
    python experiments/mdp_rivals.py --quick         # the same in small, to standard output
    python experiments/mdp_rivals.py --extend 20     # as many trials in all, at the settings chosen before; earlier trials are kept
    python experiments/mdp_rivals.py --ours          # `weight_ucrl()` alone once more, where its defaults have changed

All learners see states, actions and rewards only (`mdp.tabular` for ours), H stages, K episodes. Every learner has six settings; the one
with the least regret on the tuning seeds is played on the seeds that are reported. `weight_ucrl()` without any setting stands beside them.

    Q-learning     Q_h(s,a) ← (1−α)Q_h + α(r + max Q_{h+1}(s')), from Q = H − h, ε-greedy; constant α forgets
    PSRL           plans in a world drawn from the posterior (Osband, Russo, Van Roy 2013); counts fade by γ per episode
    UCBVI          plans with the bonus c(H−h)/√n (Azar, Osband, Munos 2017); counts fade by γ per episode
    weight_ucrl    tables of this library, with a half-life in episodes and a scale of its bonus

Regret is exact: V* less the value of the policy that is played, by backward evaluation.
"""

import argparse
import itertools
import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.io.files import write_atomically

HERE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results" / "mdp_rivals.json"
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


# ------------------------------------------------------------------------------------------------------------------ rivals


def rival(name: str, setting: tuple[float, float], world: db.mdp.MDP, seed: int) -> Any:
    """A fresh learner."""
    sizes = {"states": world.states, "actions": world.actions, "horizon": world.horizon, "seed": seed}
    first, second = RIVALS[name][1]
    return RIVALS[name][0](**sizes, **{first: setting[0], second: setting[1]})


BASELINES = db.mdp.baselines
RIVALS: dict[str, tuple[Any, tuple[str, str], list[Any]]] = {
    "Q-learning": (BASELINES.QLearning, ("step", "epsilon"), list(itertools.product((0.05, 0.15, 0.4), (0.0, 0.05)))),
    "PSRL": (BASELINES.PSRL, ("fade", "prior"), list(itertools.product((1.0, 0.99, 0.95), (0.1, 1.0)))),
    "UCBVI": (BASELINES.UCBVI, ("fade", "scale"), list(itertools.product((1.0, 0.99, 0.95), (0.03, 0.15)))),
}
OURS = list(itertools.product((1e6, 70.0, 14.0), (0.1, 0.3)))  # half-life in episodes, scale of the bonus


def play(name: str, setting: tuple[float, float], world: db.mdp.MDP, seed: int) -> float:
    """The final regret of a rival."""
    return float(db.simulate_mdp(rival(name, setting, world, seed), world, seed=seed).regret[-1])


def ours(setting: tuple[float, float] | None, world: db.mdp.MDP, seed: int) -> float:
    """The final regret of `weight_ucrl`, with a setting or with none."""
    scales = {} if setting is None else dict.fromkeys(("reward_bonus_scale", "transition_bonus_scale"), setting[1])
    strategy = db.zoo.weight_ucrl() if setting is None else db.zoo.weight_ucrl(half_life=setting[0], **scales)
    table = db.mdp.tabular(world.states, world.actions)
    return float(db.simulate_mdp(strategy, world, seed=seed, features=table).regret[-1])


# ------------------------------------------------------------------------------------------------------------------- study


def summary(runs: list[float]) -> dict[str, float]:
    """Mean and standard error."""
    return {"mean": float(np.mean(runs)), "error": float(np.std(runs, ddof=1) / np.sqrt(len(runs)))}


def compare(world: db.mdp.MDP, trials: int, tuning: int) -> dict[str, Any]:
    """Every learner at its best setting, and ours with none."""
    players: dict[str, tuple[list[Any], Callable[[Any, int], float]]] = {
        name: (settings, lambda setting, seed, name=name: play(name, setting, world, seed))
        for name, (_, _, settings) in RIVALS.items()
    }
    players["weight_ucrl, tuned"] = OURS, lambda setting, seed: ours(setting, world, seed)
    table: dict[str, Any] = {"random play": {"mean": float(db.mdp.uniform_regret(world)[-1]), "error": 0.0}}
    for name, (settings, run) in players.items():
        means = [float(np.mean([run(setting, TUNING + i) for i in range(tuning)])) for setting in settings]
        best = settings[int(np.argmin(means))]
        table[name] = summary([run(best, REPORTED + i) for i in range(trials)]) | {"setting": best}
    table["weight_ucrl()"] = summary([ours(None, world, REPORTED + i) for i in range(trials)])
    return table


def joined(old: dict[str, Any], trials: int, runs: list[float]) -> dict[str, Any]:
    """Mean and standard error of `trials` earlier trials and these."""
    n, squares = trials + len(runs), old["error"] ** 2 * trials * (trials - 1) + trials * old["mean"] ** 2
    mean = (trials * old["mean"] + sum(runs)) / n
    variance = (squares + float(np.square(runs).sum()) - n * mean**2) / (n - 1)
    return old | {"mean": mean, "error": float(np.sqrt(max(variance, 0.0) / n))}


def extend(found: dict[str, Any], trials: int) -> None:
    """Play the seeds that were not played yet at the settings that were chosen; ours without settings is played anew."""
    before = found["trials"]
    for title, table in found["worlds"].items():
        name, drift = title.split(", ")
        world = WORLDS[name](episodes=found["episodes"], drift=drift)
        for learner in (*RIVALS, "weight_ucrl, tuned") if trials > before else ():
            setting, seeds = tuple(table[learner]["setting"]), range(REPORTED + before, REPORTED + trials)
            runs = [play(learner, setting, world, i) if learner in RIVALS else ours(setting, world, i) for i in seeds]
            table[learner] = joined(table[learner], before, runs)
        table["weight_ucrl()"] = summary([ours(None, world, REPORTED + i) for i in range(trials)])
        print(title, json.dumps(table), flush=True)
    found["trials"] = trials


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--extend", type=int)
    parser.add_argument("--ours", action="store_true")
    given = parser.parse_args()
    if given.extend or given.ours:
        found = json.loads(HERE.read_text())
        extend(found, given.extend or found["trials"])
        write_atomically(HERE, json.dumps(found, indent=1).encode())
        return
    quick = given.quick
    K, trials, tuning = (40, 2, 1) if quick else (1000, 20, 2)
    found = {"episodes": K, "trials": trials, "tuning_seeds": tuning, "worlds": {}}
    for name, drift in itertools.product(WORLDS, ("gradual", "abrupt")):
        found["worlds"][f"{name}, {drift}"] = compare(WORLDS[name](episodes=K, drift=drift), trials, tuning)
        print(f"{name}, {drift}", json.dumps(found["worlds"][f"{name}, {drift}"]), flush=True)
    if not quick:
        HERE.parent.mkdir(exist_ok=True)
        write_atomically(HERE, json.dumps(found, indent=1).encode())


if __name__ == "__main__":
    main()
