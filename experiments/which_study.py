"""Which learner? What docs/which.md reports.

Every learner that fits a world plays it; all share arms, path and noise of a trial. Written: dynamic regret (mean and standard error over
trials), and process CPU time per round with the making of the world in it, the least of the trials, also as a multiple of `lb_weight_ucb`
in the same world (of `glb_weight_ucb` for clicks and counts). γ of the fixed learners is the theorem's, which knows the path length.
"""

import math
import platform
import time
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

import driftbandits as db
from driftbandits.experiment.study import Cells, Report, study
from driftbandits.links import link_of, slopes

S = 1.0
LINEAR = {"S": S, "L": 1.0, "R": 0.5, "delta": 1e-3}
KNOWS, FINDS, NOTHING = "path length", "finds out", "stands still"


def spun(T: int, d: int, seed: int) -> "db.env.Path":
    """A path that turns once in a plane of d dimensions."""
    return db.env.rotating(T, dim=d)


def jumps(T: int, d: int, seed: int) -> "db.env.Path":
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
        lambda T, d, seed: db.env.static(T, dim=d, seed=seed),
    ),
    "clicks, fixed arms, slow turn": ("logistic", 2, 50, "fixed", spun),
    "clicks, arms change, three jumps": ("logistic", 4, 10, "changing", jumps),
    "counts, arms change, three jumps": ("poisson", 4, 10, "changing", jumps),
}


def world_of(name: str, T: int, trial: int) -> "db.env.Bandit":
    """The world of a trial."""
    kind, d, n, arms, path = WORLDS[name]
    offered = db.env.unit_arms(n, dim=d, seed=trial) if arms == "fixed" else db.env.redrawn_arms(n, dim=d, seed=trial)
    if kind == "linear":
        return db.env.linear(offered, path(T, d, trial), noise=0.5)
    return db.env.generalized(offered, path(T, d, trial), link=kind)


def learners(name: str, T: int, P_T: float) -> dict[str, tuple[object, str]]:
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


def played(world: str, learner: str, T: int, trials: int) -> dict[str, Any]:
    """A cell: final regret of every trial, seconds of CPU per round of every trial but the first, which compiles."""
    regret, seconds = [], []
    for trial in range(trials):
        place = world_of(world, T, trial)
        strategy, _ = learners(world, T, db.theory.path_length(place.path))[learner]
        begun = time.process_time()
        run = db.simulate(strategy, place, seed=trial)
        seconds.append((time.process_time() - begun) / T)
        regret.append(float(run.regret[-1]))
    return {"regret": regret, "seconds": seconds[1:]}


@study(tiny={"T": 12, "trials": 2})
def which(cells: Cells, *, T: int = 3000, trials: int = 5, worlds: Sequence[str] = tuple(WORLDS)) -> Report:
    """Which learner? Regret and cost of every learner that fits, in six worlds."""
    asked = [(name, learner, told) for name in worlds for learner, (_, told) in learners(name, T, 1.0).items()]
    given = [{"world": name, "learner": learner, "T": T, "trials": trials} for name, learner, _ in asked]
    answers = cells(played, given, alone=True)  # times are compared
    cost = {(name, learner): min(a["seconds"]) for (name, learner, _), a in zip(asked, answers, strict=True)}
    rows = []
    for (name, learner, told), answer in zip(asked, answers, strict=True):
        kind, d, n, arms, _ = WORLDS[name]
        own = cost[name, learner]
        rows.append(
            {
                "world": name,
                "d": d,
                "n": n,
                "arms": arms,
                "learner": learner,
                "drift": told,
                "regret": float(np.mean(answer["regret"])),
                "se": float(np.std(answer["regret"], ddof=1) / math.sqrt(trials)),
                "us": own * 1e6,
                "cost": own / cost[name, "lb_weight_ucb" if kind == "linear" else "glb_weight_ucb"],
            }
        )
    machine = f"{platform.machine()}, Python {platform.python_version()}, numba {numba.__version__}"
    return Report({"rounds": T, "trials": trials, "machine": machine, "rows": rows})
