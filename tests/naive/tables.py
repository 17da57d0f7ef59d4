"""A table learner from its whole history: weighted counts, imagined visits, backward induction."""

import numpy as np
from naive import linear


def optimistic(values, weights, top, imagined, scale):
    """mean + scale·√(variance/m) of weighted values and of `imagined` ones equal to `top`."""
    values, weights = np.append(values, top), np.append(weights, imagined)
    m = weights.sum()
    mean = weights @ values / m
    return mean + scale * np.sqrt(weights @ (values - mean) ** 2 / m / m)


def table_plan(S, A, H, states, actions, rewards, *, memory, imagined, scale, ended=(), share_stages=True):
    """(Q, V) of episode k = len(states) + 1; Q is clipped to [0, stages left]."""
    w = linear.weights(memory, len(states) + 1)
    Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        stages = range(H) if share_stages else [h]
        for s in range(S):
            for a in range(A):
                seen = [(j, i) for j in range(len(states)) for i in stages if states[j, i] == s and actions[j, i] == a]
                weight = np.array([w[j] for j, _ in seen])
                pay = np.array([rewards[j, i] for j, i in seen])
                value = np.array([V[h + 1, states[j, i + 1]] for j, i in seen])
                Q[h, s, a] = optimistic(pay, weight, 1.0, imagined, scale)
                Q[h, s, a] += optimistic(value, weight, V[h + 1].max(), imagined, scale)
        Q[h] = np.clip(Q[h], 0, H - h)
        Q[h, list(ended)] = 0.0
        V[h] = Q[h].max(axis=1)
    return Q, V
