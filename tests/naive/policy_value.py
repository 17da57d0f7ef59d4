"""Value of policies, decision by decision in plain Python, from the equations of `inference.policy_value`."""

import math

from . import always_valid


def terms(p, forecast, chosen, r, pi, *, bounded, k):
    """φ⁻, φ⁺, g, the forecast of the policy that acts, and the weight."""
    f = [min(max(x, 0.0), 1.0) if bounded else x for x in forecast]
    g, own = sum(a * b for a, b in zip(pi, f, strict=True)), sum(a * b for a, b in zip(p, f, strict=True))
    w = [a / b for a, b in zip(pi, p, strict=True)]
    if not bounded:
        phi = w[chosen] * (r - f[chosen]) + g
        return phi, phi, g, own, w[chosen]
    c = [min(x, k / v) if v else x for x, v in zip(f, w, strict=True)]
    up = [min(1.0 - x, k / v) if v else 1.0 - x for x, v in zip(f, w, strict=True)]
    low = w[chosen] * (r - c[chosen]) + sum(a * b for a, b in zip(pi, c, strict=True))
    high = 1.0 - (w[chosen] * (1.0 - r - up[chosen]) + sum(a * b for a, b in zip(pi, up, strict=True)))
    return low, high, min(g, 1.0), min(own, 1.0), w[chosen]


def value(decisions, *, bounded, k, alpha, tightest=100.0):
    """(mean, lower, upper) of own, other and lift for decisions (p, forecast, chosen, r, π), all of them one after the other."""
    found = [(*terms(*d, bounded=bounded, k=k), d[3]) for d in decisions]
    n = len(found)
    if not bounded:
        return None
    own = _bounds(
        [r for *_, r in found], [r for *_, r in found], [g for _, _, _, g, _, _ in found], 0.0, alpha, tightest
    )
    other = _bounds([x[0] for x in found], [x[1] for x in found], [x[2] for x in found], k, alpha, tightest)
    d_low, d_high = zip(*(_lift(*d, k=k) for d in decisions), strict=True)
    d = [0.5 * (1.0 + x[3] - x[2]) for x in found]
    lift = [2.0 * x - 1.0 for x in _bounds(d_low, d_high, d, 0.5 * k, alpha, tightest)]
    assert n == len(decisions)
    return own, other, tuple(lift)


def _lift(p, forecast, chosen, r, pi, *, k):
    """(1 + D)/2 of both sides, D the difference of doubly robust pseudo-outcomes with the same c."""
    f = [min(max(x, 0.0), 1.0) for x in forecast]
    out = []
    for upper in (False, True):
        c = []
        for x, q, prob in zip(f, pi, p, strict=True):
            most = k * prob / q if q else math.inf
            c.append(min(x, most) if upper else 1.0 - min(1.0 - x, most))
        w = pi[chosen] / p[chosen]
        acts = (r - c[chosen]) + sum(a * b for a, b in zip(p, c, strict=True))
        other = w * (r - c[chosen]) + sum(a * b for a, b in zip(pi, c, strict=True))
        out.append(0.5 * (1.0 + acts - other))
    return out


def _bounds(low, high, g, k, alpha, tightest):
    n, unit, rho = len(low), 1.0 + k, tightest / 8.0
    v_low = sum((x - y) ** 2 for x, y in zip(low, g, strict=True)) / unit**2
    v_high = sum((x - y) ** 2 for x, y in zip(high, g, strict=True)) / unit**2
    lower = _solve(lambda m: always_valid.log_mixture(sum(low) / unit - n * m / unit, v_low, rho), alpha)
    upper = 1.0 - _solve(
        lambda m: always_valid.log_mixture(sum(1.0 - x for x in high) / unit - n * m / unit, v_high, rho), alpha
    )
    mean = 0.5 * (sum(low) + sum(high)) / n
    return min(max(mean, lower), upper), lower, upper


def _solve(log_mixture, alpha):
    """The least m in [0, 1] that is not refuted at level α/2, by bisection."""
    goal = math.log(2.0 / alpha)
    if log_mixture(0.0) < goal:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        mid = 0.5 * (low + high)
        low, high = (mid, high) if log_mixture(mid) >= goal else (low, mid)
    return low
