"""One-pass learners: time per round beside the linear learner, flat in t and γ; an agent after 10⁵ rounds. (Regret: the study one_pass.)

    python benchmarks/bench_one_pass.py [time] [agent]

Time is processor time of a whole simulation with changing arms (n = 100, drawn beforehand), the least of several runs in turn, and its
ratio to `lb_weight_ucb` in the same run: target 1.5. The logistic world draws its rewards from μ(xᵀθ), the linear one from xᵀθ + noise.
"""

import sys
import time

import numpy as np

import driftbandits as db
from driftbandits.core.state import pack

BALL = {"S": 1.0, "L": 1.0, "delta": 1e-3}


def learners(gamma):
    """Name → strategy and whether its world is linear."""
    return {
        "lb_weight_ucb": (db.zoo.lb_weight_ucb(gamma=gamma, lam=1, R=0.5, **BALL), True),
        "domd_glb": (db.zoo.domd_glb(gamma=gamma, **BALL), False),
        "glb one_pass": (db.zoo.glb_weight_ucb(gamma=gamma, lam=10, estimator="one_pass", **BALL), False),
    }


def seconds_per_round(strategies, worlds, T, repeats):
    """Least processor time of each strategy in its world, in turn, so that a busy machine is busy for all."""
    best = np.full(len(strategies), np.inf)
    for strategy, world in zip(strategies, worlds, strict=True):
        db.simulate(strategy, world)
    for seed in range(repeats):
        for k, (strategy, world) in enumerate(zip(strategies, worlds, strict=True)):
            began = time.process_time()
            db.simulate(strategy, world, seed=seed)
            best[k] = min(best[k], time.process_time() - began)
    return best / T


def changing(d, n, T, seed=0):
    """(T, n, d) unit vectors; 300 rounds of them over and over, so that they stay in the cache as far as they can."""
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((min(T, 300), n, d))
    arms /= np.linalg.norm(arms, axis=2, keepdims=True)
    return np.concatenate([arms] * (T // len(arms) + 1))[:T]


def measure_time():
    print(f"{'d':>3} {'T':>6} {'1/(1−γ)':>8}", *(f"{name:>16}" for name in learners(0.9)), "   ratios")
    for d in (2, 20, 50):
        for T, memory in (
            ((600, 100), (600, 10_000), (6000, 100)) if d < 50 else ((600, 100), (600, 10_000), (2400, 100))
        ):
            arms, path = changing(d, 100, T), db.env.rotating(T, dim=d)
            linear, logistic = db.env.linear(arms, path, noise=0.5), db.env.generalized(arms, path, link="logistic")
            chosen = learners(1 - 1 / memory).values()
            us = 1e6 * seconds_per_round(
                [s for s, _ in chosen], [linear if flat else logistic for _, flat in chosen], T, repeats=9
            )
            print(
                f"{d:3d} {T:6d} {memory:8d}",
                *(f"{t:13.2f} µs" for t in us),
                "  ",
                *(f"{t / us[0]:.2f}" for t in us[1:]),
                flush=True,
            )


def measure_agent(d=20, n=20):
    """µs per decision and update, and bytes, around rounds 10³ and 10⁵; exact only as far as it can be waited for."""
    rng = np.random.default_rng(0)
    offers = rng.standard_normal((200, n, d))
    offers /= np.linalg.norm(offers, axis=2, keepdims=True)
    made = {
        "glb_weight_ucb": lambda e: db.zoo.glb_weight_ucb(half_life=500, lam=10, estimator=e, **BALL),
        "adaptive_weight_glm_ucb": lambda e: db.zoo.adaptive_weight_glm_ucb(lam=10, estimator=e, **BALL),
    }
    for name, make in made.items():
        for estimator, rounds in ((None, (1000, 10_000, 100_000)), ("exact", (300, 1000))):
            agent = db.Agent(make(estimator), dim=d, compile="now")
            t, line = 0, []
            for mark in rounds:
                began = time.process_time()
                first = t
                while t < mark:
                    if t == mark - 200:
                        began, first = time.process_time(), t
                    k = agent.select(offers[t % 200])
                    agent.update(float((k + t) % 3 == 0))
                    t += 1
                us = 1e6 * (time.process_time() - began) / (t - first)
                size = sum(array.nbytes for array in pack(agent._state).values())
                line.append(f"round {mark}: {us:7.1f} µs {size / 1e6:6.2f} MB")
            print(f"{name:24s} {estimator or 'default':8s}", "   ".join(line), flush=True)


def main():
    asked = sys.argv[1:] or ["time", "agent"]
    for name in asked:
        {"time": measure_time, "agent": measure_agent}[name]()


if __name__ == "__main__":
    main()
