"""Always-valid bounds from their definitions: wealth observation by observation, and the bound by bisection."""

import math

STEPS = [2.0**j for j in range(-3, 4)]
PRIOR = [3.0 ** -abs(j) for j in range(-3, 4)]


def stakes(weight=1.0, n=1e4, rate=0.3):
    """Seven stakes on either side: a click multiplies the wealth by about e^s or e^−s."""
    sd = math.sqrt(rate * (1.0 - rate) * (1.0 + weight) / 2.0)
    s = [min(3.0 * weight / (sd * math.sqrt(n)) * x, 50.0) for x in STEPS]
    return (
        [min((math.exp(x) - 1.0) / weight, 0.45) for x in s],
        [min((1.0 - math.exp(-x)) / weight, 0.9 / (1.0 + weight)) for x in s],
    )


def mixture(outcomes, centres, lam, m):
    """Σ_j π_j Π_i (1 + λ_j(φ_ij − g_i)) exp(−λ_j(m − g_i)); outcomes[j] are those of stake j."""
    total = 0.0
    for phi, x, prior in zip(outcomes, lam, PRIOR, strict=True):
        log = math.fsum(math.log(1.0 + x * (f - g)) - x * (m - g) for f, g in zip(phi, centres, strict=True))
        total += prior / sum(PRIOR) * math.exp(min(log, 700.0))
    return total


def levels(long, short, alpha):
    """Levels of the long and of the short side: the middle stakes are (e^s − 1)/m and (1 − e^−s)/m, whose ratio is e^s."""
    middle = len(STEPS) // 2
    s = max(math.log(long[middle] / short[middle]), 0.0)
    return alpha / (2.0 * (1.0 + s)), alpha * (1.0 + 2.0 * s) / (2.0 * (1.0 + s))


def lower(outcomes, centres, lam, level, least=0.0, most=1.0):
    """The least m in [least, most] that is not refuted at a level."""
    if mixture(outcomes, centres, lam, least) <= 1.0 / level:
        return least
    for _ in range(60):
        middle = 0.5 * (least + most)
        least, most = (middle, most) if mixture(outcomes, centres, lam, middle) > 1.0 / level else (least, middle)
    return least


def half_width(n, tightest, alpha):
    """z: the least x with Σ_j π_j exp(λ_j x − λ_j²/2) = 2/α, stakes in units of the standard deviation of the sum."""
    lam = [3.0 * math.sqrt(n / tightest) * x for x in STEPS]
    low, high = 0.0, 1e4
    for _ in range(200):
        x = 0.5 * (low + high)
        logs = [math.log(p / sum(PRIOR)) + a * x - 0.5 * a * a for p, a in zip(PRIOR, lam, strict=True)]
        reached = max(logs) + math.log(sum(math.exp(y - max(logs)) for y in logs)) > math.log(2.0 / alpha)
        low, high = (low, x) if reached else (x, high)
    return high


def worth(weights):
    """How many observations of equal weight say as much."""
    return sum(weights) ** 2 / sum(w * w for w in weights) if any(weights) else 0.0


def payments(weights, rewards):
    """How many payments of equal weight were observed, also if all items were paid for equally often."""
    paid = [w for w, r in zip(weights, rewards, strict=True) if r != 0.0]
    return min(worth(paid), worth(weights) * len(paid) / len(rewards))


def asymptotic(deviations, mean, residuals, weights, m, effective, alpha, tightest=1e4):
    """Bounds around a mean of n outcomes; `deviations` are φ − g, `residuals` r − g whatever was shown, m the payments."""
    n, v = len(deviations), math.fsum(u * u for u in deviations)
    if n < 30 or effective < 30 or m < 20 or v == 0.0:
        return mean, -math.inf, math.inf
    z = half_width(n, tightest, alpha)
    pooled = math.fsum(w * w for w in weights) * math.fsum(e * e for e in residuals) / n
    v = max(v, (m * v + 20.0 * pooled) / (m + 20.0)) + z * math.sqrt(math.fsum(u**4 for u in deviations))
    half = z * math.sqrt(v) / n
    return mean, mean - half, mean + half
