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


def lower(outcomes, centres, lam, alpha, least=0.0, most=1.0):
    """The least m in [least, most] that is not refuted at level α/2."""
    if mixture(outcomes, centres, lam, least) <= 2.0 / alpha:
        return least
    for _ in range(60):
        middle = 0.5 * (least + most)
        least, most = (middle, most) if mixture(outcomes, centres, lam, middle) > 2.0 / alpha else (least, middle)
    return least
