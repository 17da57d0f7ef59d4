"""UCRL2 and SWUCRL2-CW from the whole history: counts, radii, the optimistic distribution of each pair as a linear program."""

import numpy as np
from scipy.optimize import linprog


def optimistic(p, radius, u):
    """max Σ q u over distributions q with ‖q − p‖₁ ≤ radius, by SciPy's solver: q = p + x − y, x, y ≥ 0."""
    S = len(p)
    cost = np.concatenate([-u, u])
    budget, positive = np.ones((1, 2 * S)), np.hstack([-np.eye(S), np.eye(S)])
    found = linprog(
        cost,
        A_ub=np.vstack([budget, positive]),
        b_ub=np.concatenate([[radius], p]),
        A_eq=np.concatenate([np.ones(S), -np.ones(S)])[None],
        b_eq=[0.0],
        bounds=(0, None),
    )
    return p @ u - found.fun


def confidence(history, *, S, A, window, widening, delta, scale=1.0):
    """r̃, p̂ and radii (S, A) after the steps `history` of (s, a, r, s')."""
    t = max(1, len(history))
    kept = history if window is None else history[-window:]
    pay, p, radius = np.zeros((S, A)), np.full((S, A, S), 1.0 / S), np.full((S, A), 2.0)
    for s in range(S):
        for a in range(A):
            mine = [(r, to) for x, y, r, to in kept if (x, y) == (s, a)]
            n = max(1, len(mine))
            bonus = scale * np.sqrt(7.0 * np.log(2.0 * S * A * t / delta) / (2.0 * n))
            pay[s, a] = min(1.0, sum(r for r, _ in mine) / n + bonus)
            if mine:
                p[s, a] = np.bincount([to for _, to in mine], minlength=S) / n
                radius[s, a] = scale * np.sqrt(14.0 * S * np.log(2.0 * A * t / delta) / n) + widening
    return pay, p, radius


def values(pay, p, radius, precision):
    """u and Q by value iteration, one linear program a pair."""
    S, A = pay.shape
    u = np.zeros(S)
    while True:
        Q = np.array([[pay[s, a] + optimistic(p[s, a], radius[s, a], u) for a in range(A)] for s in range(S)])
        step = Q.max(axis=1) - u
        u = Q.max(axis=1) - Q.max(axis=1).min()
        if step.max() - step.min() < precision:
            return u, Q


def policies(history, **constants):
    """[(t, Q)] of every policy that is played along a history."""
    S, A, window = constants["S"], constants["A"], constants["window"]
    made, since, limit, due = [], np.zeros((S, A)), np.zeros((S, A)), True
    for t in range(len(history) + 1):
        if due:
            found = confidence(history[:t], **constants)
            made.append((t, values(*found, 1.0 / np.sqrt(max(1, t)))[1]))
            kept = history[:t] if window is None else history[max(0, t - window) : t]
            limit, since, due = np.ones((S, A)), np.zeros((S, A)), False
            for s in range(S):
                for a in range(A):
                    limit[s, a] = max(1, sum((x, y) == (s, a) for x, y, _, _ in kept))
        if t < len(history):
            s, a = history[t][:2]
            since[s, a] += 1
            due = since[s, a] >= limit[s, a] or (window is not None and (t + 1) % window == 0)
    return made
