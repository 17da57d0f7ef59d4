"""Meta-strategies, literally: Exp3.IX and BOB (paper, appendix G; 1.6), MASTER (Wei & Luo 2021, Procedure 1; 1.5).

MASTER's blocks are indexed from 1: round τ of a block started at t_n is round t_n + τ - 1 of the run. An instance is
(m, s, e): order, first and last round inside its block.
"""

import math

import numpy as np


# --- Exp3.IX -------------------------------------------------------------------------------------------------------
def exp3ix_rates(N, M, i=None):
    """(η, ϱ): fixed horizon η = √(2 log N/(NM)); anytime at play i η_i = √(log N/(N i)); ϱ = η/2."""
    eta = math.sqrt(2 * math.log(N) / (N * M)) if i is None else math.sqrt(math.log(N) / (N * i))
    return eta, eta / 2


def exp3ix_probabilities(plays, losses, *, N, M=None, anytime=False):
    """p of the next play, after all past plays and their losses in [0, 1]; every past p is recomputed."""
    total = np.zeros(N)
    for i in range(1, len(plays) + 2):
        eta, implicit = exp3ix_rates(N, M, i if anytime else None)
        p = np.array([math.exp(-eta * (value - min(total))) for value in total])
        p = p / np.sum(p)
        if i <= len(plays):
            total[plays[i - 1]] += losses[i - 1] / (p[plays[i - 1]] + implicit)
    return p


# --- Bandits over bandits ------------------------------------------------------------------------------------------
def bob_constants(T, d, *, L=1.0, S=1.0, R=1.0):
    """Every constant of BOB: block Δ, M, N, the candidates γ_i, η, ϱ, L_max, δ (eq:candidate-set)."""
    block = math.ceil(d * math.sqrt(T))
    M = math.ceil(T / block)
    N = math.ceil(math.log2(T / math.sqrt(d))) + 1
    eta, implicit = exp3ix_rates(N, M)
    return {
        "block": block,
        "M": M,
        "N": N,
        "gammas": [1 - d**-0.5 * 2.0 ** (1 - i) for i in range(1, N + 1)],
        "eta": eta,
        "implicit": implicit,
        "L_max": bob_largest_sum(block, T, L=L, S=S, R=R),
        "delta": 1 / ((2 * N + 1) * T),
        "lengths": [min(block, T - i * block) for i in range(M)],
    }


def bob_largest_sum(length, T, *, L, S, R):
    """L_max = LSΔ + 2R√(Δ ln(T/√Δ)) (lemma:bounded-noise)."""
    return L * S * length + 2 * R * math.sqrt(length * math.log(T / math.sqrt(length)))


def bob_loss(rewards, T, *, L, S, R):
    """ℓ = (1 - Y/L_max)/2 clipped to [0, 1], with the block's own length (resolutions E5, E6)."""
    return float(np.clip((1 - sum(rewards) / bob_largest_sum(len(rewards), T, L=L, S=S, R=R)) / 2, 0, 1))


def bob_loss_nonnegative(rewards, m):
    """ℓ = 1 - Y/(mΔ) for rewards in [0, m]."""
    return float(np.clip(1 - sum(rewards) / (m * len(rewards)), 0, 1))


# --- MASTER: schedule ----------------------------------------------------------------------------------------------
def master_probability(n, m, rho):
    """ρ(2^n)/ρ(2^m)."""
    return rho(2**n) / rho(2**m)


def master_schedule(n, rho, uniform):
    """Procedure 1 as printed; uniform(τ, m) is the number in [0, 1) drawn for slot (τ, m)."""
    return [
        (m, tau + 1, tau + 2**m)
        for tau in range(2**n)
        for m in range(n, -1, -1)
        if tau % 2**m == 0 and uniform(tau, m) < master_probability(n, m, rho)
    ]


def master_active(instances, tau):
    """The instance that covers round τ and is the shortest; there is one instance of each order at most."""
    covering = [instance for instance in instances if instance[1] <= tau <= instance[2]]
    return min(covering, key=lambda instance: instance[0])


def master_rounds(instances, instance, tau):
    """The rounds before τ in which `instance` was active: its own history, whose length is its n."""
    return [past for past in range(1, tau) if master_active(instances, past) == instance]


def master_blocks(T, n0, fails=()):
    """(t_n, n) of every block of a run in which the tests failed after exactly the rounds `fails`."""
    blocks, t, n = [], 1, n0
    while t <= T:
        blocks.append((t, n))
        stop = [fail for fail in fails if t <= fail <= t + 2**n - 1]
        t, n = (min(stop) + 1, n0) if stop else (t + 2**n, n + 1)
    return blocks


# --- MASTER: tests -------------------------------------------------------------------------------------------------
def master_rho_hat(t, T, delta, rho, test_scale=1.0):
    """ρ̂(t) = 6 n̂ log(T/δ) ρ(t), n̂ = log2 T + 1."""
    return test_scale * 6 * (math.log2(T) + 1) * math.log(T / delta) * rho(t)


def master_test_1(instances, rewards, g, rho_hat):
    """Test 1 after round τ = len(rewards): some instance ends at τ, mean reward over it ≥ U_τ + 9ρ̂(2^m).

    The mean is over all rounds of the interval; U_τ = min g̃ over the block so far.
    """
    tau = len(rewards)
    for m, s, e in instances:
        if e == tau and sum(rewards[i - 1] for i in range(s, e + 1)) / 2**m >= min(g[:tau]) + 9 * rho_hat(2**m):
            return True
    return False


def master_test_2(rewards, g, rho_hat):
    """Test 2 after round τ = len(rewards): mean of g̃ - R over the block so far ≥ 3ρ̂(τ)."""
    tau = len(rewards)
    return sum(g[i] - rewards[i] for i in range(tau)) / tau >= 3 * rho_hat(tau)


def master_unit(z, L, S):
    """z ↦ (z + LS)/(2LS), the scale of the tests for linear rewards (resolution F4); clip g̃ afterwards, never R."""
    return (z + L * S) / (2 * L * S)
