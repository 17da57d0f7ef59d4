"""One strategy of each family, simulated and as an agent; prints its numbers as JSON. Needs numpy, numba and scipy only."""

import json
import warnings

import numpy as np

import driftbandits as db

warnings.simplefilter("error")

LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}
GLM = {"S": 1.0, "L": 1.0, "delta": 0.05, "gamma": 0.95}
T, DIM = 60, 3


def strategies():
    """Name → strategy and the kind of its world."""
    zoo = db.zoo
    yield "lb_weight_ucb", zoo.lb_weight_ucb(gamma=0.95, **LINEAR), "linear"
    yield "glb_weight_ucb", zoo.glb_weight_ucb(lam=2.0, **GLM), "logistic"
    yield "scb_weight_ucb", zoo.scb_weight_ucb(lam=20.0, **GLM), "logistic"
    yield "master", zoo.master(zoo.oful(**LINEAR), horizon=T), "linear"
    yield "adaptive_weight_ucb", zoo.adaptive_weight_ucb(**LINEAR), "linear"
    yield "domd_glb", zoo.domd_glb(**GLM), "logistic"
    yield "self_tuning", zoo.self_tuning(), "linear"


def simulated(strategy, kind):
    """Arms played and regret in a small drifting world."""
    arms, path = db.env.unit_arms(12, dim=DIM, seed=0), db.env.rotating(T, dim=DIM)
    world = (
        db.env.linear(arms, path, noise=0.5) if kind == "linear" else db.env.generalized(arms, path, link="logistic")
    )
    run = db.simulate(strategy, world, seed=0, checkpoints="all")
    return run.choices.tolist(), float(run.regret[-1])


def decided(strategy):
    """Arms an agent chooses, and its last estimate. The arms stay the same: MASTER asks for that."""
    agent, rng, chosen = db.Agent(strategy, dim=DIM, seed=0, horizon=T), np.random.default_rng(0), []
    arms = rng.uniform(-0.5, 0.5, (5, DIM))
    for _ in range(20):
        chosen.append(int(agent.select(arms)))
        agent.update(float(rng.integers(0, 2)))
    return chosen, agent.theta.tolist()


def planned():
    """Regret of a learner in an MDP."""
    world = db.mdp.riverswim(episodes=12, horizon=4)
    bounds = {"lam_theta": 1.0, "lam_w": 8.0, "delta": 0.01, "transition_bonus_scale": 0.1, **world.bounds}
    return float(db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, **bounds), world, seed=0).regret[-1])


def main():
    """Everything, under the names of the strategies."""
    told = {}
    for name, strategy, kind in strategies():
        told[name] = [simulated(strategy, kind), decided(strategy)]
    told["weight_ucrl"] = planned()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
