"""Which learner? What docs/which.md reports: python experiments/which_study.py [--trials 5] [--out docs/results/which.json]

Every learner that fits a world plays it; all share arms, path and noise of a trial. Written: dynamic regret (mean and standard error over
trials), and process CPU time per round with the making of the world in it, the least of the trials, also as a multiple of `lb_weight_ucb`
in the same world (of `glb_weight_ucb` for clicks and counts). γ of the fixed learners is the theorem's, which knows the path length.
"""

import argparse
import json
import math
import pathlib
import platform
import time

import numba
import numpy as np

import driftbandits as db
from driftbandits.links import link_of, slopes

T, S = 3000, 1.0
LINEAR = {"S": S, "L": 1.0, "R": 0.5, "delta": 1e-3}
KNOWS, FINDS, NOTHING = "path length", "finds out", "stands still"


def spun(d: int, seed: int) -> "db.env.Path":
    """A path that turns once in a plane of d dimensions."""
    return db.env.rotating(T, dim=d)


def jumps(d: int, seed: int) -> "db.env.Path":
    """Four stretches, three jumps."""
    return db.env.piecewise(T, dim=d, changes=3, seed=seed)


WORLDS = {
    "amounts, fixed arms, slow turn": ("linear", 2, 50, "fixed", spun),
    "amounts, arms change, three jumps": ("linear", 8, 20, "changing", jumps),
    "amounts, arms change, nothing drifts": (
        "linear",
        8,
        20,
        "changing",
        lambda d, seed: db.env.static(T, dim=d, seed=seed),
    ),
    "clicks, fixed arms, slow turn": ("logistic", 2, 50, "fixed", spun),
    "clicks, arms change, three jumps": ("logistic", 4, 10, "changing", jumps),
    "counts, arms change, three jumps": ("poisson", 4, 10, "changing", jumps),
}


def world_of(name: str, trial: int) -> "db.env.Bandit":
    """The world of a trial."""
    kind, d, n, arms, path = WORLDS[name]
    offered = db.env.unit_arms(n, dim=d, seed=trial) if arms == "fixed" else db.env.redrawn_arms(n, dim=d, seed=trial)
    if kind == "linear":
        return db.env.linear(offered, path(d, trial), noise=0.5)
    return db.env.generalized(offered, path(d, trial), link=kind)


def learners(name: str, P_T: float) -> dict[str, tuple[object, str]]:
    """Every learner that fits, with what it is told of the drift."""
    kind, d, _, arms, _ = WORLDS[name]
    th, z = db.theory, db.zoo
    if kind == "linear":
        own = {"lam": th.lb_lambda(d=d), **LINEAR}
        W = th.window(T=T, d=d, P_T=P_T, balanced=True) if P_T else T
        gamma = th.lb_gamma(T=T, d=d, P_T=P_T)
        found = {
            "self_tuning": (z.self_tuning(), FINDS),
            "adaptive_weight_ucb": (z.adaptive_weight_ucb(**own), FINDS),
            "igw_mix": (z.igw_mix(S=S, L=1.0, R=0.5), FINDS),
            "bob": (z.bob(horizon=T, dim=d, **own), FINDS),
            "dal": (z.dal(z.oful(**own)), FINDS),
            "wsb_lin_ucb": (
                z.wsb_lin_ucb(gamma=gamma, prior_precision=own["lam"] / 0.25, sigma=0.5, B0=d**0.5 * 2.0, delta=1e-3),
                KNOWS,
            ),
            "lb_weight_ucb": (z.lb_weight_ucb(gamma=gamma, **own), KNOWS),
            "d_lin_ucb": (z.d_lin_ucb(gamma=gamma, **own), KNOWS),
            "sw_ucb": (z.sw_ucb(window=W, **own), KNOWS),
            "oful": (z.oful(**own), NOTHING),
        }
        if arms == "fixed":
            found["master"] = (z.master(z.oful(**own), horizon=T), FINDS)
        return found
    k_mu, c_mu = slopes(link_of(kind), S)
    omd = {"link": kind, "S": S, "L": 1.0, "delta": 1e-3}
    if kind == "poisson":  # but for domd_glb every radius is a heuristic (driftbandits.links)
        glb = {"link": kind, "lam": th.glb_lambda(d=d, c_mu=c_mu), "S": S, "L": 1.0, "R": 1.0, "delta": 1e-3}
        gamma = th.glb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu, c_mu=c_mu)
        return {
            "self_tuning": (z.self_tuning(reward="count"), FINDS),
            "glb_weight_ucb": (z.glb_weight_ucb(gamma=gamma, **glb), KNOWS),
            "glm_ucb": (z.glm_ucb(**glb), NOTHING),
            "domd_glb": (z.domd_glb(gamma=th.domd_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu), **omd), KNOWS),
        }
    glb = {"link": kind, "lam": th.glb_lambda(d=d, c_mu=c_mu), "S": S, "L": 1.0, "delta": 1e-3}
    scb = {**glb, "lam": th.scb_lambda(d=d, T=T, c_mu=c_mu)}
    return {
        "self_tuning": (z.self_tuning(reward="click"), FINDS),
        "adaptive_weight_glm_ucb": (z.adaptive_weight_glm_ucb(**glb), FINDS),
        "glb_weight_ucb": (z.glb_weight_ucb(gamma=th.glb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu, c_mu=c_mu), **glb), KNOWS),
        "scb_weight_ucb": (z.scb_weight_ucb(gamma=th.scb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu), **scb), KNOWS),
        "glm_ucb": (z.glm_ucb(**glb), NOTHING),
        "domd_glb": (z.domd_glb(gamma=th.domd_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu), **omd), KNOWS),
        "bob_glm": (z.bob_glm(horizon=T, dim=d, **{**glb, "delta": None}), FINDS),
        "dal": (z.dal(z.glb_omd(**omd)), FINDS),
    } | ({"master": (z.master(z.glm_ucb(**glb), horizon=T), FINDS)} if arms == "fixed" else {})


def main() -> None:
    """Play, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/results/which.json"))
    asked = parser.parse_args()
    rows = []
    for name, (kind, d, n, arms, _) in WORLDS.items():
        regret: dict[str, list[float]] = {}
        cost: dict[str, float] = {}
        told: dict[str, str] = {}
        for trial in range(asked.trials):
            world = world_of(name, trial)
            P_T = db.theory.path_length(world.path)
            for learner, (strategy, knows) in learners(name, P_T).items():
                begun = time.process_time()
                run = db.simulate(strategy, world, seed=trial)
                if trial:  # the first one compiles
                    cost[learner] = min(cost.get(learner, math.inf), (time.process_time() - begun) / T)
                regret.setdefault(learner, []).append(float(run.regret[-1]))
                told[learner] = knows
                print(name, learner, trial, round(regret[learner][-1], 1), flush=True)
        unit = cost["lb_weight_ucb" if kind == "linear" else "glb_weight_ucb"]
        for learner, values in regret.items():
            rows.append(
                {
                    "world": name,
                    "d": d,
                    "n": n,
                    "arms": arms,
                    "learner": learner,
                    "drift": told[learner],
                    "regret": float(np.mean(values)),
                    "se": float(np.std(values, ddof=1) / math.sqrt(len(values))),
                    "us": cost[learner] * 1e6,
                    "cost": cost[learner] / unit,
                }
            )
    made = {
        "made_by": f"python experiments/which_study.py --trials {asked.trials}",
        "rounds": T,
        "trials": asked.trials,
        "machine": f"{platform.machine()}, Python {platform.python_version()}, numba {numba.__version__}",
        "rows": rows,
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
