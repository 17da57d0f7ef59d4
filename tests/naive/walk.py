"""A replay row by row, as the equations of docs/replay.md read: every policy is asked about a row before anything goes on to the next."""

import heapq
import math

import numpy as np

from driftbandits.replay.estimators import DR, EACH, HEAD, MR, REWARDS, ROWS, WR, WW, M, W


def walk(log, walkers, forecast, late, rng):
    """What each row adds to the sums (n, width)."""
    waiting, every = [], []
    for t, row in enumerate(log):
        while waiting and row.at is not None and waiting[0][0] <= row.at:
            _, number, then, told = heapq.heappop(waiting)
            for policy in told:
                policy.tell(number, then)
        told, values = one(t, row, walkers, forecast, log, rng)
        every.append(values)
        if late and row.rewarded is not None and row.rewarded != row.at:
            heapq.heappush(waiting, (row.rewarded, t, row, told))
        else:
            for policy in told:
                policy.tell(t, row)
    return np.array(every)


def one(t, row, walkers, forecast, log, rng):
    """Ask everybody about a row; who is to hear its reward, and what it adds to the sums."""
    p = 1.0 / len(row.items) if row.propensity is None else row.propensity
    heads = rng.random() < log.facts.least / p
    expected = forecast.ahead(t, row) if forecast is not None else {}
    values = np.zeros(HEAD + EACH * len(walkers))
    values[ROWS], values[REWARDS] = 1.0, row.reward
    told = []
    for k, walker in enumerate(walkers):
        own = values[HEAD + EACH * k :][:EACH]
        for runner in walker.runners():
            asked = runner.policy.ask(t, row)
            agrees = heads and asked.item == row.item
            if runner is walker.weighted:
                w = asked.p.get(row.item, 0.0) / p
                own[W], own[WW], own[WR] = w, w * w, w * row.reward
                if expected:
                    direct = math.fsum(chance * expected[item] for item, chance in asked.p.items())
                    own[DR] = direct + w * (row.reward - expected[row.item])
            if runner is walker.matched:
                own[M], own[MR] = float(agrees), row.reward if agrees else 0.0
            if agrees or not runner.own:
                told.append(runner.policy)
            else:
                runner.policy.skip(t)
    if forecast is not None:
        forecast.learn(t, row)
    return told, values
