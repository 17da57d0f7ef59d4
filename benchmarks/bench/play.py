"""Play a stream with one learner: reward, and CPU time of the process per decision with its learning step."""

import time
from collections import deque

import numpy as np

CELL_SECONDS = 20.0  # of CPU; a learner that needs more for one run is stopped, and that is told


def play(stream, learner, limit=CELL_SECONDS):
    """Mean reward per round and µs of CPU per round."""
    T = len(stream.R)
    waiting = deque()
    earned, began = 0.0, time.process_time()
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
        if t % 64 == 0 and time.process_time() - began > limit:
            return {"stopped": t + 1, "micros": 1e6 * (time.process_time() - began) / (t + 1)}
    return {"reward": earned / T, "micros": 1e6 * (time.process_time() - began) / T}


def bounds(stream):
    """What random play and the best choice of every round earn."""
    return {"random": float(stream.E.mean()), "best": float(stream.E.max(axis=1).mean())}


def run_cell(stream, module, seed, setting):
    """One learner with one of its settings on one stream with one seed."""
    return {**play(stream, module.make(stream, seed, **module.SETTINGS[setting])), **bounds(stream)}


def share(cell):
    """The share of the way from random play (0) to the best choice of every round (1); −∞ for a run that was stopped."""
    if "reward" not in cell:
        return -np.inf
    return (cell["reward"] - cell["random"]) / (cell["best"] - cell["random"])
