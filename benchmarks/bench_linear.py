"""Linear bandits: cost of a round as ratios in one run, so that a noisy machine does not matter. Run: python benchmarks/bench_linear.py

- against `lb_weight_ucb.c`, the same algorithm by hand (-O3 -march=native), and against `lb_weight_ucb_inverse.c`, which scores with the
  explicit inverse (-ffast-math as well), at d=2, n=50;
  `loop` is ours with noise, path and best arms given, as they are to the C loops; `ours` is all of `simulate`;
- where a round goes when arms change;
- against one bare dgemm of the shape that scores all arms (d×d by d×n), at d=20, n=100 and d=100, n=1000;
- the online agent, the first compilation, a warm start, two threads against one.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded: one core against one core

import numpy as np

import driftbandits as db
from driftbandits.core.checks import check_arms
from driftbandits.core.kernel import entry
from driftbandits.core.linalg import cholesky
from driftbandits.env.rewards import draws
from driftbandits.protocol import Setting, make_room, start
from driftbandits.simulate.rounds import best_predictors, blank_log, play_rounds
from driftbandits.simulate.runs import spread_rounds

HERE = pathlib.Path(__file__).parent
NUMBERS = {"gamma": 0.97711772, "lam": 2.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 1 / 12000}


def best(function, repeat, clock=time.process_time):
    """Least of several times, in seconds; of the processor, unless several threads are compared."""
    function()
    times = []
    for _ in range(repeat):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def c_loop(folder, name="lb_weight_ucb", option="-fno-math-errno"):
    """A hand-written loop, or None without a C compiler."""
    library = pathlib.Path(folder) / f"{name}.so"
    command = ["cc", "-O3", "-march=native", option, "-shared", "-fPIC", "-o", library, HERE / f"{name}.c", "-lm"]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    run = ctypes.CDLL(str(library)).run
    run.restype = ctypes.c_double
    return run


def given(strategy, world):
    """Play a world whose arms, path, best arms and noise have been made before; and these: arms (T or 1, d, n), θ (T, d), best (T,)."""
    T, n, fixed = world.horizon, world.arms.n, world.arms.fixed
    arms = np.concatenate(list(world.arms.blocks(T, T)))
    theta, best_of = np.ascontiguousarray(world.path.to_array()), np.empty(T)
    score, x, noise = np.zeros(n), np.zeros(world.dim), draws(world.reward, np.random.default_rng(0), T)
    best_predictors(arms, theta, score, best_of)
    setting, rng = Setting(world.dim, arms[0] if fixed else np.zeros((world.dim, 0)), T), np.random.default_rng(0)
    state = make_room(strategy, start(strategy, setting, rng), n)

    def play():
        log = blank_log(spread_rounds(300, T), 0, 0)
        call = (strategy, state, world.reward, arms, theta, best_of, noise, fixed, score, x, rng, log)
        play_rounds.direct(*call)(*call)

    return play, arms, theta, best_of


def measure(loop, inverse=None):
    """ns per round of ours, of the C loops (None without a compiler) and of one dgemm, by size."""
    strategy, rows = db.zoo.lb_weight_ucb(**NUMBERS), []
    for d, n, T in ((2, 50, 6000), (20, 100, 3000), (100, 1000, 300)):
        arms = db.env.unit_arms(n, dim=d, seed=0)
        world = db.env.linear(arms, db.env.rotating(T, dim=d))
        X, theta = np.ascontiguousarray(arms.T), world.path.to_array()
        top, noise = (theta @ X).max(axis=1), np.random.default_rng(0).standard_normal(T)
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (X, theta, top, noise)]
        numbers = [ctypes.c_double(v) for v in NUMBERS.values()]
        V = np.eye(d)
        ours = best(lambda: db.simulate(strategy, world, seed=0), 7) / T
        alone = best(given(strategy, world)[0], 7) / T
        by_hand, inverted = (
            best(lambda c=c: c(d, n, T, *pointers, *numbers), 7) / T if c else None for c in (loop, inverse)
        )
        gemm = best(lambda: [V @ X for _ in range(50)], 7) / 50
        times = {"ours": ours, "loop": alone, "C": by_hand, "C inverse": inverted, "dgemm": gemm}
        rows.append({"d": d, "n": n} | {name: t and t * 1e9 for name, t in times.items()})
    return rows


def rounds(loop, inverse):
    others = ("C", "C inverse", "dgemm")
    print(
        f"{'d':>4} {'n':>5}",
        *(f"{name:>12}" for name in ("ours", "loop", *others, *(f"ours/{o}" for o in others), "loop/C inv.")),
        "  ns per round",
    )
    for r in measure(loop, inverse):
        ours, alone, *times = [r[name] or float("nan") for name in ("ours", "loop", *others)]
        ratios = [*(ours / t for t in times), alone / times[1]]
        print(
            f"{r['d']:>4} {r['n']:>5}",
            *(f"{t:>12.0f}" for t in (ours, alone, *times)),
            *(f"{q:>12.2f}" for q in ratios),
        )


def changing():
    """Where a round of lb_weight_ucb goes, arms fixed and changing, in µs."""
    print(
        "\nµs per round: simulate = the learner + drawing arms + checking their norms + the best arm + noise, path, calls"
    )
    strategy = db.zoo.lb_weight_ucb(**NUMBERS)
    for d, n, T in ((2, 50, 3000), (20, 100, 1500), (50, 100, 600)):
        for name, arms in (
            ("fixed", db.env.unit_arms(n, dim=d, seed=0)),
            ("changing", db.env.redrawn_arms(n, dim=d, seed=0)),
        ):
            world = db.env.linear(arms, db.env.rotating(T, dim=d))
            play, offers, theta, top = given(strategy, world)
            score = np.zeros(n)
            parts = {
                "simulate": lambda: db.simulate(strategy, world, seed=0),
                "learner": play,
                "draw": lambda: [block.shape for block in world.arms.blocks(T, 64)],
                "check": lambda: check_arms(offers, 1.0, "error"),
                "best": lambda: best_predictors(offers, theta, score, top),
            }
            print(f"  d = {d:2d} n = {n:3d} {name:9}", *(f"{k} {best(f, 7) / T * 1e6:6.2f}" for k, f in parts.items()))


@entry
def _factor_again(A, U, times):
    for _ in range(times):
        cholesky(A, 1.0, U)


def factors():
    """Our Cholesky factor against LAPACK's on one core."""
    print("\nCholesky factor: ours, LAPACK's (NumPy), ratio")
    for d in (20, 50, 100, 200, 500):
        X = np.random.default_rng(0).standard_normal((2 * d, d))
        A, U = X.T @ X / d, np.zeros((d, d))
        times = max(1, int(2e7 / d**3))
        ours = best(lambda: _factor_again(A, U, times), 7) / times
        lapack = best(lambda: np.linalg.cholesky(A + np.eye(d)), 20)
        print(f"  d = {d:3d} {ours * 1e6:9.1f} µs {lapack * 1e6:9.1f} µs {ours / lapack:6.2f}")


def zoo():
    numbers = {k: v for k, v in NUMBERS.items() if k != "gamma"}
    strategies = {
        "lb_weight_ucb": db.zoo.lb_weight_ucb(**NUMBERS),
        "oful": db.zoo.oful(**numbers),
        "d_lin_ucb": db.zoo.d_lin_ucb(**NUMBERS),
        "sw_ucb": db.zoo.sw_ucb(window=34, **numbers),
        "restart_ucb": db.zoo.restart_ucb(period=34, **numbers),
        "d_lin_ts": db.zoo.d_lin_ts(**NUMBERS),
        "d_rand_lin_ucb": db.zoo.d_rand_lin_ucb(**NUMBERS),
    }
    world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(6000))
    base = best(lambda: db.simulate(strategies["lb_weight_ucb"], world), 5)
    print("\nd=2, n=50, relative to lb_weight_ucb")
    for name, strategy in strategies.items():
        print(f"  {name:<16} {best(lambda s=strategy: db.simulate(s, world), 5) / base:5.2f}")


def agent():
    served = db.Agent(db.zoo.lb_weight_ucb(**NUMBERS), dim=2, compile="now")
    arms = db.env.unit_arms(50, dim=2, seed=0)

    def thousand():
        for _ in range(1000):
            served.select(arms)
            served.update(0.1)

    print(f"\nagent: select + update at d=2, n=50: {best(thousand, 7) * 1e3:.1f} µs")


def threads():
    strategy = db.zoo.lb_weight_ucb(**NUMBERS)

    def problem(i):
        return db.env.linear(db.env.unit_arms(50, dim=2, seed=i), db.env.rotating(60_000))

    one, two = (
        best(lambda j=jobs: db.trials(strategy, problem, trials=16, jobs=j), 3, time.perf_counter) for jobs in (1, 2)
    )
    print(f"\n16 trials on 2 threads: {one / two:.2f} × as fast as on 1")


COLD = """
import time; t = time.perf_counter()
import driftbandits as db
imported = time.perf_counter() - t
s = db.zoo.lb_weight_ucb(gamma=0.97, lam=2, S=1, L=1, R=1, delta=1e-4)
w = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(6000))
t = time.perf_counter(); db.simulate(s, w); print(f"import {imported:.2f} s, first run {time.perf_counter() - t:.2f} s")
"""


def compilation(folder):
    environment = {**os.environ, "DRIFTBANDITS_CACHE": str(pathlib.Path(folder) / "cache")}
    for name in ("empty cache", "next process"):
        done = subprocess.run([sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True)
        print(f"{name:>13}: {done.stdout.strip()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        rounds(c_loop(scratch), c_loop(scratch, "lb_weight_ucb_inverse", "-ffast-math"))
        changing()
        factors()
        zoo()
        agent()
        threads()
        print()
        compilation(scratch)
