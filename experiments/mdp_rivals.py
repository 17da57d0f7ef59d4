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
from typing import Any, ClassVar

import numpy as np

import driftbandits as db
from driftbandits.files import write_atomically

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


class QLearning:
    """Tabular, one table per stage, with a constant step."""

    settings: ClassVar = list(itertools.product((0.05, 0.15, 0.4), (0.0, 0.05)))

    def __init__(self, H: int, S: int, A: int, setting: tuple[float, float], rng: np.random.Generator) -> None:
        self.step, self.epsilon = setting
        self.Q = np.zeros((H + 1, S, A))
        self.Q[:H] = np.arange(H, 0, -1)[:, None, None]
        self.rng = rng

    def plan(self) -> np.ndarray:
        """Probabilities of actions, (H, S, A)."""
        H, _, A = self.Q[:-1].shape
        best = self.Q[:H] >= self.Q[:H].max(axis=2, keepdims=True) - 1e-12
        return (1 - self.epsilon) * best / best.sum(axis=2, keepdims=True) + self.epsilon / A

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """One step."""
        target = r + self.Q[h + 1, s_next].max()
        self.Q[h, s, a] += self.step * (target - self.Q[h, s, a])


class Counting:
    """What PSRL and UCBVI share: counts that fade, pooled over the stages, and a plan by backward induction."""

    def __init__(self, H: int, S: int, A: int, setting: tuple[float, float], rng: np.random.Generator) -> None:
        self.gamma, self.scale = setting
        self.N, self.R, self.H, self.rng = np.zeros((S, A, S)), np.zeros((S, A)), H, rng

    def model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P (S, A, S), rewards (S, A), and a bonus (S, A) per stage left."""
        raise NotImplementedError

    def plan(self) -> np.ndarray:
        """Probabilities of actions, (H, S, A)."""
        P, rewards, bonus = self.model()
        policy, V = np.zeros((self.H, *rewards.shape)), np.zeros(len(rewards))
        for h in range(self.H - 1, -1, -1):
            left = self.H - h
            Q = np.minimum(rewards + P @ V + left * bonus, left)
            policy[h] = Q.max(axis=1, keepdims=True) - 1e-12 <= Q
            V = Q.max(axis=1)
        self.N *= self.gamma  # before the episode that is planned is counted
        self.R *= self.gamma
        return policy / policy.sum(axis=2, keepdims=True)

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:  # noqa: ARG002 - stages are pooled
        """One step."""
        self.N[s, a, s_next] += 1
        self.R[s, a] += r


class PSRL(Counting):
    """Posterior sampling: Dirichlet transitions, normal rewards."""

    settings: ClassVar = list(itertools.product((1.0, 0.99, 0.95), (0.1, 1.0)))  # γ, prior count in all

    def model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A draw from the posterior."""
        n = self.N.sum(axis=2)
        draw = self.rng.standard_gamma(self.N + self.scale / len(self.N)) + 1e-300
        rewards = (self.R + self.scale) / (n + self.scale) + self.rng.standard_normal(n.shape) * 0.1 / np.sqrt(n + 1)
        return draw / draw.sum(axis=2, keepdims=True), rewards, np.zeros_like(n)


class UCBVI(Counting):
    """Optimism by a bonus of Hoeffding's shape."""

    settings: ClassVar = list(itertools.product((1.0, 0.99, 0.95), (0.03, 0.15)))  # γ, c

    def model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The empirical world; an unknown pair leads nowhere, and its bonus is all there is."""
        n = self.N.sum(axis=2)
        seen = np.maximum(n, 1e-9)
        bonus = np.where(n > 0.0, np.minimum(self.scale / np.sqrt(seen), 1.0), 1.0)
        return self.N / seen[..., None], self.R / seen, bonus


RIVALS = {"Q-learning": QLearning, "PSRL": PSRL, "UCBVI": UCBVI}
OURS = list(itertools.product((1e6, 70.0, 14.0), (0.1, 0.3)))  # half-life in episodes, scale of the bonus


def play(make: type, setting: tuple[float, float], world: db.mdp.MDP, seed: int) -> float:
    """The final regret of a rival."""
    rng = np.random.default_rng(seed)
    H, S, A = world.horizon, world.states, world.actions
    learner, regret = make(H, S, A, setting, rng), 0.0
    known: tuple[Any, Any] = (None, None)
    for k in range(world.episodes):
        if (
            k == 0
            or not np.array_equal(world.w[k], world.w[k - 1])
            or not np.array_equal(world.theta[k], world.theta[k - 1])
        ):
            known = world.kernel(k), world.rewards(k)
        P, pay = known
        policy = learner.plan()
        value = db.mdp.policy_evaluation(P, pay, policy)[0]
        s = int(world.start[k])
        regret += float(world.optimal[k] - value[s])
        for h in range(H):
            a = int(rng.choice(A, p=policy[h, s]))
            s_next = int(min(np.searchsorted(np.cumsum(P[h, s, a]), rng.random()), S - 1))
            learner.learn(h, s, a, float(pay[h, s, a]), s_next)
            s = s_next
    return regret


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
        name: (make.settings, lambda setting, seed, make=make: play(make, setting, world, seed))
        for name, make in RIVALS.items()
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
            make, setting = RIVALS.get(learner), tuple(table[learner]["setting"])
            seeds = range(REPORTED + before, REPORTED + trials)
            runs = [ours(setting, world, i) if make is None else play(make, setting, world, i) for i in seeds]
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
