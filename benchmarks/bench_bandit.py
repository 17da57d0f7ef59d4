"""What a decision with its reward costs: CPU time of the process, the best of several rounds. `python benchmarks/bench_bandit.py`."""

import sys
import tempfile
import threading
import time
import tracemalloc

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
    tracemalloc.start()
    small = offers(5, 5)
    start = time.process_time()
    crowd = [db.Bandit(features="item") for _ in range(1000)]
    made = (time.process_time() - start) / 1000
    for t, bandit in enumerate(crowd):
        bandit.reward(bandit.decide(small[t % 100]).id, 1.0)
    memory = tracemalloc.get_traced_memory()[0] / 1000
    tracemalloc.stop()
    each = cost(lambda t: decide_and_reward(crowd[t % 1000], small)(t), 1000, 2)
    print(f"1000 bandits, d = 5: {1e6 * made:.0f} µs to make (traced), {memory / 1000:.1f} kB and {each:.0f} µs each")
    shared, given = db.Bandit(), offers(10, 10)
    one = threads(shared, given, 1)
    print(f"8 threads: {one / threads(shared, given, 8):.2f} of one thread's throughput")


def threads(bandit, given, n, total=1600):
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
