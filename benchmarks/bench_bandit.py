"""What a decision with its reward costs: CPU time of the process, the best of several rounds. `python benchmarks/bench_bandit.py`.

`--long` also makes 10⁶ decisions between items that come and go, and prints the memory of the process on the way.
"""

import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import driftbandits as db

ROUNDS, BEST = 300, 5
rng = np.random.default_rng(0)


def cost(step, rounds=ROUNDS, best=BEST):
    """Microseconds of CPU per step."""
    for t in range(min(rounds, 60)):
        step(t)
    times = []
    for _ in range(best):
        start = time.process_time()
        for t in range(rounds):
            step(t)
        times.append((time.process_time() - start) / rounds)
    return 1e6 * min(times)


def offers(n, d, many=100):
    names = [f"f{j}" for j in range(d)]
    return [
        {f"i{k}": dict(zip(names, rng.normal(size=d).tolist(), strict=True)) for k in range(n)} for _ in range(many)
    ]


def decide_and_reward(bandit, given):
    def step(t):
        d = bandit.decide(given[t % len(given)])
        bandit.reward(d.id, float(t % 7))

    return step


def main():
    print(
        f"in memory, 10 items, d = 10: {cost(decide_and_reward(db.Bandit(), offers(10, 10))):.0f} µs per decide + reward"
    )
    with tempfile.TemporaryDirectory() as folder, db.Bandit.open(f"{folder}/b", sync="normal") as durable:
        print(f"durable (sync='normal'), the same: {cost(decide_and_reward(durable, offers(10, 10))):.0f} µs")
    names = [f"i{k}" for k in range(1000)]
    contexts = [{f"f{j}": float(x) for j, x in enumerate(rng.normal(size=20))} for _ in range(50)]
    many = db.Bandit(features="disjoint")
    for t in range(50):
        many.reward(many.decide(names, contexts[t]).id, 1.0)
    print(f"disjoint, 1000 items, d = 20: {cost(lambda t: many.decide(names, contexts[t % 50]), 50):.0f} µs per decide")
    wide = db.Bandit(features="item")
    words = [
        {f"i{k}": {f"s{j}": f"w{rng.integers(100_000)}" for j in range(10)} for k in range(10)} for _ in range(400)
    ]
    for given in words:
        wide.reward(wide.decide(given).id, float(rng.normal()))
    assert wide.info()["covariance"] == "diagonal"
    print(f"10⁵ categories, 10 items of 10 strings: {cost(decide_and_reward(wide, words)):.0f} µs per decide + reward")
    crowd(10_000)
    shared, given = db.Bandit(), offers(10, 10)
    pairs = sorted(threads(shared, given, 1) / threads(shared, given, 8) for _ in range(9))
    print(f"8 threads: {pairs[4]:.2f} of one thread's throughput ({pairs[2]:.2f} to {pairs[6]:.2f})")
    print(f"first decision of a new process, import aside: {1e3 * first():.0f} ms")
    if "--long" in sys.argv:
        come_and_go()


def resident():
    """Memory of this process in bytes (Linux)."""
    return 4096 * int(pathlib.Path("/proc/self/statm").read_text().split()[1])


def crowd(many):
    """Many bandits in one process: to make them, their first decision, and each of nine more."""
    small, before, start = offers(5, 5), resident(), time.process_time()
    bandits = [db.Bandit(features="item") for _ in range(many)]
    made = time.process_time()
    step = [decide_and_reward(bandit, small) for bandit in bandits]
    times = []
    for t in range(10):
        begin = time.process_time()
        for one in step:
            one(t)
        times.append(1e6 * (time.process_time() - begin) / many)
    each, memory = sum(times[1:]) / 9, (resident() - before) / many / 1000
    print(
        f"{many} bandits, 5 items, d = 5: {memory:.1f} kB each; {1e6 * (made - start) / many:.0f} µs to make, "
        f"{times[0]:.0f} µs for the first decide + reward, {each:.0f} µs for each after"
    )


def first():
    """Seconds to make a bandit, decide and learn, in a process that has only imported the library; code is in the cache."""
    program = (
        "import time, driftbandits as db; start = time.perf_counter(); bandit = db.Bandit(); "
        "bandit.reward(bandit.decide({'a': {'x': 1.0}, 'b': {'x': 2.0}}, {'y': 1.0}).id, 1.0); "
        "print(time.perf_counter() - start)"
    )
    run = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(3)]
    return min(map(float, run))


def come_and_go(rounds=1_000_000, tenth=100_000):
    """Ten items of ever new names, in models of their own; rewards of every second decision never come."""
    bandit, start = db.Bandit(features="hybrid", max_items=1000, max_pending=1000), time.process_time()
    for t in range(rounds):
        d = bandit.decide([f"i{(t // 20 + k)}" for k in range(10)], {"x": float(t % 17), "y": float(t % 5)})
        if t % 2:
            bandit.reward(d.id, float(t % 3))
        if t % tenth == tenth - 1:
            print(
                f"  {t + 1} decisions: {resident() / 1e6:.0f} MB, {1e6 * (time.process_time() - start) / (t + 1):.0f} µs each"
            )


def threads(bandit, given, n, total=4800):
    """Seconds for `total` decisions by n threads."""
    step = decide_and_reward(bandit, given)
    workers = [threading.Thread(target=lambda: [step(t) for t in range(total // n)]) for _ in range(n)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
