"""Tables whose bonus is measured, and several memories of them, replayed from the whole history; stages pooled, γ^age.

A history is (states (K, H+1), actions (K, H), rewards (K, H)); steps come in the order in which they happened.
"""

import numpy as np
from naive.tables import optimistic

START, LEAST, MEMORY = 0.05, 1e-4, 200.0  # σ̂² of rewards
DOUBT, SHARE, MARGIN = 0.01, 1e-3, 1.0
C_REWARD, C_NEXT, HASTE = 0.1, 1.0, 0.1


def steps(states, actions, rewards):
    """(episode, pair, reward, successor) of every step."""
    for j, h in np.ndindex(actions.shape):
        yield j, (states[j, h], actions[j, h]), rewards[j, h], states[j, h + 1]


def novelty(history):
    """ρ̂ = (1 + new)/(1 + Σ 1/n): how often a visit after n others showed a successor that was new."""
    met, new, chances = {}, 0, 0.0
    for _, pair, _, successor in steps(*history):
        before = met.setdefault(pair, [])
        if before:
            chances += 1.0 / len(before)
            new += successor not in before
        before.append(successor)
    return (1.0 + new) / (1.0 + chances)


def shown(history):
    """The successors of every pair, in the order in which they were first seen."""
    out = {}
    for _, pair, _, successor in steps(*history):
        out.setdefault(pair, [])
        if successor not in out[pair]:
            out[pair].append(successor)
    return out


def beyond_first(successors, s):
    """How many successors of the pairs of state s were not the first of their pair."""
    return sum(len(found) - 1 for (state, _), found in successors.items() if state == s)


def novelty_in_state(history):
    """The same of successors that were new to their pair and not its first: was it new to the state as well?"""
    S, new, chances = {}, 0, 0.0
    for _, (s, a), _, successor in steps(*history):
        known = {t for (state, _), found in S.items() if state == s for t in found}
        draws = beyond_first(S, s)
        mine = S.setdefault((s, a), [])
        if successor not in mine:
            if mine and draws:
                chances += 1.0 / draws
                new += successor not in known
            mine.append(successor)
    return (1.0 + new) / (1.0 + chances)


def hopes(S, history, V):
    """What a successor that is new to its pair may be worth, (S,), of pairs that were tried."""
    successors = shown(history)
    met = {s for s, _ in successors} | {t for found in successors.values() for t in found}
    never = [V[s] for s in range(S) if s not in met]
    seen, unseen = max((V[s] for s in met), default=0.0), max(never, default=0.0)
    world = seen if unseen <= seen else ((S - len(never)) * seen + len(never) * unseen) / S
    doubt, local = novelty_in_state(history), np.zeros(S)
    for s in range(S):
        draws = beyond_first(successors, s)
        best = max((V[t] for (state, _), found in successors.items() if state == s for t in found), default=0.0)
        local[s] = (draws * best + doubt * world) / (draws + doubt)
    return local


def measured_noise(history, gamma):
    """σ̂²: errors of the weighted mean of all that was seen of a pair before, where there is any."""
    noise, seen = START, {}
    for j, pair, r, _ in steps(*history):
        before = seen.setdefault(pair, [])
        if before:
            weight = np.array([gamma ** (j - i) for i, _ in before])
            noise += ((r - weight @ [x for _, x in before] / weight.sum()) ** 2 - noise) / MEMORY
        before.append((j, r))
    return max(noise, LEAST)


def counts(S, A, history, gamma, k):
    """N (S, A, S), R (S, A), R² (S, A) at the beginning of episode k, 0-based."""
    N, R, R2 = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros((S, A))
    for j, (s, a), r, t in steps(*history):
        if j < k:
            w = gamma ** (k - 1 - j)
            N[s, a, t] += w
            R[s, a] += w * r
            R2[s, a] += w * r * r
    return N, R, R2


def expected_rewards(N, R):
    n = N.sum(axis=2)
    return np.divide(R, n, out=np.zeros_like(R), where=n > 0)


def optimistic_rewards(S, A, history, gamma, k):
    """As `naive.tables` has them, with σ̂² imagined visits."""
    past = tuple(x[:k] for x in history)
    noise, out = measured_noise(past, gamma), np.zeros((S, A))
    for s, a in np.ndindex(S, A):
        seen = [(j, r) for j, pair, r, _ in steps(*past) if pair == (s, a)]
        weight = np.array([gamma ** (k - 1 - j) for j, _ in seen])
        out[s, a] = optimistic(np.array([r for _, r in seen]), weight, 1.0, noise, C_REWARD)
    return out


def plan(rewards, n, P, history, H, c=C_NEXT):
    """Q (H, S, A) from optimistic rewards, n visits of each pair, its distribution P of successors (0 where n = 0), and the history."""
    S, rho = len(rewards), novelty(history)
    Q, V = np.zeros((H, *rewards.shape)), np.zeros(S)
    for h in range(H - 1, -1, -1):
        top = np.where(n > 0, hopes(S, history, V)[:, None], V.max())
        mean = (n * (P @ V) + rho * top) / (n + rho)
        variance = np.maximum((n * (P @ V**2) + rho * top**2) / (n + rho) - mean**2, 0.0)
        Q[h] = np.clip(rewards + (1.0 - HASTE / H) * (mean + c * np.sqrt(variance / (n + rho))), 0, H - h)
        V = Q[h].max(axis=1)
    return Q


def measured_table_plan(S, A, H, history, gamma):
    """Q of the episode after the history."""
    k = len(history[1])
    N, _, _ = counts(S, A, history, gamma, k)
    n = N.sum(axis=2)
    P = np.divide(N, n[..., None], out=np.zeros_like(N), where=n[..., None] > 0)
    return plan(optimistic_rewards(S, A, history, gamma, k), n, P, history, H)


def leaning(N, room):
    """p_i(·|s,a) of every memory, shortest first: p_i = (N_i + p_{i+1})/(n_i + 1), the longest leaning on 1/room."""
    p, out = np.full(N[0].shape, 1.0 / room), []
    for counted in reversed(N):
        p = (counted + p) / (counted.sum(axis=2, keepdims=True) + 1.0)
        out.append(p)
    return out[::-1]


def shared(total):
    """Weights, each with a part of a thousandth, and the longest within a nat of the best."""
    weight = np.exp(total - total.max())
    total = np.log((1 - SHARE) * weight / weight.sum() + SHARE / len(total))
    return total, int(np.flatnonzero(total >= total.max() - MARGIN)[-1])


def adaptive_table_plans(S, A, H, history, gammas):
    """[(Q, leader of rewards, leader of transitions)] of the episodes 1..K+1; gammas from the shortest memory to γ = 1."""
    M, K = len(gammas), len(history[1])
    of_rewards, of_transitions, noise, plans = np.zeros(M), np.zeros(M), 0.05, []
    for k in range(K + 1):
        of_rewards, payer = shared(of_rewards)
        of_transitions, mover = shared(of_transitions)
        known = [counts(S, A, history, gamma, k) for gamma in gammas]
        means = [expected_rewards(N, R) for N, R, _ in known]
        longer = min(max(payer, mover) + 1, M - 1)
        rewards = means[payer] + optimistic_rewards(S, A, history, gammas[longer], k) - means[longer]
        n = known[-1][0].sum(axis=2)
        P = np.divide(known[-1][0], n[..., None], out=np.zeros((S, A, S)), where=n[..., None] > 0)
        for N, _, _ in known[mover:-1][::-1]:
            P = np.where(n[..., None] > 0, (N + P) / (N.sum(axis=2, keepdims=True) + 1.0), 0.0)
        plans.append((plan(rewards, n, P, tuple(x[:k] for x in history), H), payer, mover))
        if k == K:
            break
        for h in range(H):
            s, a, t, r = history[0][k, h], history[1][k, h], history[0][k, h + 1], history[2][k, h]
            errors = np.array([r - mean[s, a] for mean in means])
            of_rewards -= 0.5 * errors**2 / noise
            now = [
                N.copy() for N, _, _ in known
            ]  # with what has happened in this episode, at whose beginning the past fades
            if h > 0:
                for N, gamma in zip(now, gammas, strict=True):
                    N *= gamma
                    for i in range(h):
                        N[history[0][k, i], history[1][k, i], history[0][k, i + 1]] += 1.0
            of_transitions += [np.log(max(p[s, a, t], DOUBT)) for p in leaning(now, S)]
            noise += (max(errors[payer] ** 2, 1e-6) - noise) / 200.0
    return plans
