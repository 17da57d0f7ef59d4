"""Meta-strategies: time a round as a ratio to one model of their kind, and memory.

    python benchmarks/bench_meta.py

Times are the least of several runs of 6000 rounds on one core, compiled beforehand and without the trace (which looks inside every
20 rounds). Targets: MASTER ≤ 1.5 × OFUL; 12 adaptive candidates ≤ 6 × one model.
"""

import time
from unittest import mock

import numpy as np

import driftbandits as db
from driftbandits.protocol import Setting, start, trace

T = 6000


def least(strategy, world, repeats=7):
    """µs per round, the least of several runs."""
    with mock.patch.object(trace, "knows", return_value=False):
        db.simulate(strategy, world)
        times = []
        for i in range(repeats):
            began = time.perf_counter()
            db.simulate(strategy, world, seed=i)
            times.append(time.perf_counter() - began)
    return min(times) / world.horizon * 1e6


def numbers(state):
    """How many numbers a state holds."""
    return sum(map(numbers, state)) if isinstance(state, tuple) else state.size


def row(name, strategy, against, world):
    mine, other = least(strategy, world), least(against, world)
    print(f"{name:44s} {mine:8.2f} µs {other:8.2f} µs   ratio {mine / other:.2f}", flush=True)


def main():
    print(f"{'strategy':44s} {'a round':>11s} {'one model':>11s}")
    for d, n in ((2, 50), (10, 50), (20, 100)):
        lb = {"lam": float(d), "S": 1.0, "L": 1.0, "R": 1.0}
        delta = {"delta": 1 / (2 * T)}
        world = db.env.linear(db.env.unit_arms(n, dim=d, seed=0), db.env.rotating(T, dim=d))
        oful, weight = db.zoo.oful(**lb, **delta), db.zoo.lb_weight_ucb(gamma=0.99, **lb, **delta)
        row(f"MASTER(0)  / OFUL            d={d} n={n}", db.zoo.master(oful, horizon=T), oful, world)
        row(f"MASTER(13) / OFUL            d={d} n={n}", db.zoo.master(oful, horizon=T, first_order=13), oful, world)
        row(f"BOB        / LB-WeightUCB    d={d} n={n}", db.zoo.bob(horizon=T, dim=d, **lb), weight, world)
        row(f"adaptive   / LB-WeightUCB    d={d} n={n}", db.zoo.adaptive_weight_ucb(**lb, **delta), weight, world)
    glb = {"S": 1.0, "L": 1.0, "delta": 1 / (2 * T)}
    for d, n in ((2, 50), (10, 50)):
        world = db.env.generalized(db.env.unit_arms(n, dim=d, seed=0), db.env.rotating(T, dim=d))
        glm, weight = db.zoo.glm_ucb(lam=d, **glb), db.zoo.glb_weight_ucb(gamma=0.99, lam=5.0, **glb)
        row(f"MASTER(13) / GLM-UCB         d={d} n={n}", db.zoo.master(glm, horizon=T, first_order=13), glm, world)
        row(f"adaptive   / GLB-WeightUCB   d={d} n={n}", db.zoo.adaptive_weight_glm_ucb(**glb), weight, world)
    print("\nnumbers in the state of MASTER(OFUL), d = 2, journal aside")
    for horizon in (10**3, 10**6, 10**9):
        strategy = db.zoo.master(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), horizon=horizon)
        state = start(strategy, Setting(2, np.zeros((2, 0)), 0), np.random.default_rng(0))
        print(f"T = 10^{np.log10(horizon):.0f}: {numbers(state) - numbers(state.plan.journal)}")


if __name__ == "__main__":
    main()
