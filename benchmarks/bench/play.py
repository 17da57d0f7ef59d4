"""Play streams with one learner: reward, and CPU time of the process per decision with its learning step."""

import time
from collections import deque

import numpy as np

CELL_SECONDS = 6.0  # of CPU; a learner that needs more for one run is stopped, and that is told


def play(stream, learner, limit=CELL_SECONDS):
    """Mean reward per round and µs of CPU per round, of all rounds, of the first and of the last quarter."""
    T = len(stream.R)
    waiting = deque()
    earned, marks, began = 0.0, [], time.process_time()
    quarter = max(1, T // 4)
    for t in range(T):
        if stream.delay and t >= stream.delay:
            learner.learn(*waiting.popleft(), stream.delay - 1)
        offer = stream.offer(t)
        k = learner.decide(offer)
        earned += stream.E[t, k]
        if stream.delay:
            waiting.append((offer, k, float(stream.R[t, k])))
        else:
            learner.learn(offer, k, float(stream.R[t, k]), 0)
        if (t + 1) % quarter == 0:
            marks.append(time.process_time())
        if t % 64 == 0 and time.process_time() - began > limit:
            return {"stopped": t + 1, "micros": 1e6 * (time.process_time() - began) / (t + 1)}
    micros = 1e6 * np.diff([began, *marks]) / quarter
    return {
        "reward": earned / T,
        "micros": float(micros.mean()),
        "micros_first": float(micros[0]),
        "micros_last": float(micros[-1]),
    }


def tune(stream, module, seed):
    """The setting that earns most on the first tenth; the default wins ties."""
    tenth = stream.first(len(stream.R) // 10)
    found = [
        play(tenth, module.make(tenth, seed, **s), CELL_SECONDS / 4).get("reward", -np.inf) for s in module.SETTINGS
    ]
    return int(np.argmax(found))


def bounds(stream):
    """What random play and the best choice of every round earn."""
    return {"random": float(stream.E.mean()), "best": float(stream.E.max(axis=1).mean())}


def run_cell(stream, module, seed):
    """One learner on one stream with one seed: as documented, and tuned."""
    told = module.refuses(stream)
    if told:
        return {"refused": told}
    default = play(stream, module.make(stream, seed, **module.SETTINGS[0]))
    answer = {"default": default, **bounds(stream)}
    if len(module.SETTINGS) > 1:
        best = 0 if "stopped" in default else tune(stream, module, seed)
        answer["setting"] = module.SETTINGS[best]
        answer["tuned"] = play(stream, module.make(stream, seed, **module.SETTINGS[best])) if best else default
    return answer
