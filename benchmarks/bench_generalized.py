"""Generalized linear bandits: time per round, and its growth with t.

    python benchmarks/bench_generalized.py

Times are processor time of a whole simulation, the least of several runs on one core, compiled beforehand. The last table solves the
same estimation problem the way published code does, by an optimiser over all past rounds (here even warm-started Newton in NumPy), and
shows how both grow.
"""

import time

import numpy as np

import driftbandits as db

T = 6000
BALL = {"S": 1.0, "L": 1.0, "delta": 1 / (2 * T)}
C_MU = 0.19661193324148185
LAM_SCB = 2 * np.log(T) / C_MU
STRATEGIES = {
    "glb_weight_ucb": (2.0, db.zoo.glb_weight_ucb(gamma=0.98985378, lam=2 / C_MU**2, **BALL)),
    "scb_weight_ucb": (2.0, db.zoo.scb_weight_ucb(gamma=0.97711772, lam=LAM_SCB, **BALL)),
    "log_ucb1": (2.0, db.zoo.log_ucb1(lam=LAM_SCB, **BALL)),
    "glm_ucb": (10.0, db.zoo.glm_ucb(lam=2, **BALL)),
    "bvd_glm_ucb": (10.0, db.zoo.bvd_glm_ucb(gamma=0.94404931, lam=2, **BALL)),
    "glb_restart_ucb": (10.0, db.zoo.glb_restart_ucb(period=34, lam=2, **BALL)),
    "scb_pw_weight_ucb": (300.0, db.zoo.scb_pw_weight_ucb(gamma=0.99442139, lam=LAM_SCB, radius_scale=0.1, **BALL)),
    "ofu_log": (300.0, db.zoo.ofu_log(lam=LAM_SCB, radius_scale=0.3, **BALL)),
}


def least(strategy, world, repeats=5):
    """µs per round, the least of several runs."""
    db.simulate(strategy, world)
    best = np.inf
    for seed in range(repeats):
        began = time.process_time()
        db.simulate(strategy, world, seed=seed)
        best = min(best, time.process_time() - began)
    return best / world.horizon * 1e6


def clicks(n, dim, horizon, changing=False):
    path = db.env.rotating(horizon, dim=dim)
    arms = db.env.unit_arms(n, dim=dim, seed=0)
    if changing:
        rng = np.random.default_rng(0)
        arms = rng.standard_normal((horizon, n, dim))
        arms /= np.linalg.norm(arms, axis=2, keepdims=True)
    return db.env.generalized(arms, path)


def newton_over_history(t, dim=2, gamma=0.99):
    """µs of one warm-started solve over t past rounds in NumPy: three Newton steps."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((t, dim))
    r = (rng.random(t) < 0.6).astype(float)
    w = gamma ** np.arange(t)[::-1]
    theta = np.zeros(dim)
    began = time.process_time()
    for _ in range(3):
        p = 1 / (1 + np.exp(-X @ theta))
        gradient = theta + X.T @ (w * (p - r))
        theta -= np.linalg.solve(np.eye(dim) + (X.T * (w * p * (1 - p))) @ X, gradient)
    return (time.process_time() - began) * 1e6


def main():
    lb = least(
        db.zoo.lb_weight_ucb(gamma=0.977, lam=2, R=0.5, **BALL),
        db.env.linear(db.env.unit_arms(50, dim=2), db.env.rotating(T)),
    )
    print(f"d=2, n=50, T={T}; for comparison lb_weight_ucb {lb:.2f} µs")
    print(f"{'algorithm':20s} {'µs/round':>9s} {'target':>7s} {'× linear':>9s}")
    for name, (target, strategy) in STRATEGIES.items():
        us = least(strategy, clicks(50, 2, T), 2 if target > 100 else 5)
        print(f"{name:20s} {us:9.2f} {target:7.0f} {us / lb:9.1f}", flush=True)
    wide = db.zoo.glb_weight_ucb(gamma=0.993, lam=20 / C_MU**2, **BALL)
    print(f"\nglb_weight_ucb, d=20, n=100, fixed arms:    {least(wide, clicks(100, 20, 2000)):7.1f} µs (target 30)")
    print(
        f"glb_weight_ucb, d=20, n=100, changing arms: {least(wide, clicks(100, 20, 6000, changing=True), 3):7.1f} µs (target 150)"
    )
    print(
        "\ngrowth with t: µs per round at T, glb_weight_ucb and glm_ucb (d=2, n=50) against Newton over the history in NumPy"
    )
    print(f"{'t':>8s} {'glb_weight':>11s} {'glm_ucb':>9s} {'history':>9s}")
    horizons, rows = [1000, 4000, 16000, 64000], []
    for t in horizons:
        world = clicks(50, 2, t)
        row = [least(STRATEGIES[name][1], world, 3) for name in ("glb_weight_ucb", "glm_ucb")]
        row.append(min(newton_over_history(t) for _ in range(5)))
        rows.append(row)
        print(f"{t:8d} {row[0]:11.2f} {row[1]:9.2f} {row[2]:9.1f}", flush=True)
    slopes = np.polyfit(np.log(horizons), np.log(rows), 1)[0]
    print("exponent " + " ".join(f"{s:10.2f}" for s in slopes))


if __name__ == "__main__":
    main()
