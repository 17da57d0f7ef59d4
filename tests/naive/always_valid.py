"""Always-valid bounds from their definitions: wealth observation by observation, and the bound by bisection."""

import math

STEPS = [2.0**j for j in range(-3, 4)]
PRIOR = [math.exp(-0.5 * (math.log(s) / 0.8) ** 2) for s in STEPS]


def stakes(weight=1.0, n=1e4):
    """Seven stakes around 3/(σ√n), σ² = .12 · weight."""
    return [min(3.0 / math.sqrt(0.12 * weight * n) * s, 0.45) for s in STEPS]


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
