"""Value of policies, decision by decision in plain Python, from the equations of `inference.outcomes`."""

import math

from . import always_valid


def outcomes(p, forecast, chosen, r, pi, lam):
    """φ⁻, φ⁺, D⁻, D⁺ for one stake, and g, d, and the forecast of the policy that acts."""
    k = 0.9 / lam - 1.0
    f = [min(max(x, 0.0), 1.0) for x in forecast]
    cut = [k * b / a if a else math.inf for a, b in zip(pi, p, strict=True)]
    c = [min(x, m) for x, m in zip(f, cut, strict=True)]
    e = [1.0 - min(1.0 - x, m) for x, m in zip(f, cut, strict=True)]
    w = pi[chosen] / p[chosen]
    low, high = w * (r - c[chosen]) + dot(pi, c), w * (r - e[chosen]) + dot(pi, e)
    d_low = (r - e[chosen]) + dot(p, e) - high
    d_high = (r - c[chosen]) + dot(p, c) - low
    return low, high, d_low, d_high, dot(pi, f), dot(p, f) - dot(pi, f), dot(p, f)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def value(decisions, *, weight, alpha, rate=0.3):
    """(mean, lower, upper) of own, other and lift for decisions (p, forecast, chosen, r, π), all of them one after the other."""
    (long, short), own_lam = always_valid.stakes(weight, rate=rate), always_valid.stakes(rate=rate)
    gains, losses = ([[outcomes(*d, x) for d in decisions] for x in side] for side in (long, short))
    r, own = [d[3] for d in decisions], [x[6] for x in gains[0]]
    g, diff = [x[4] for x in gains[0]], [x[5] for x in gains[0]]
    lower, levels = always_valid.lower, always_valid.levels
    (own_gain, own_loss), (gain, loss) = levels(*own_lam, alpha), levels(long, short, alpha)
    rewards, missed = [r] * len(long), [[1.0 - x for x in r]] * len(long)
    own_bounds = (
        lower(rewards, own, own_lam[0], own_gain),
        1.0 - lower(missed, [1.0 - x for x in own], own_lam[1], own_loss),
    )
    other_bounds = (
        lower([[x[0] for x in row] for row in gains], g, long, gain),
        1.0 - lower([[1.0 - x[1] for x in row] for row in losses], [1.0 - x for x in g], short, loss),
    )
    lift_bounds = (
        lower([[x[2] for x in row] for row in losses], diff, short, loss, -1.0),
        -lower([[-x[3] for x in row] for row in gains], [-x for x in diff], long, gain, -1.0),
    )
    plain = [outcomes(*d, 1e-9) for d in decisions]  # nothing is cut
    means = [sum(column) / len(r) for column in (r, [x[0] for x in plain], [x[2] for x in plain])]
    bounds = own_bounds, other_bounds, lift_bounds
    return tuple((min(max(m, lo), max(hi, lo)), lo, hi) for m, (lo, hi) in zip(means, bounds, strict=True))


def unbounded(decisions, *, alpha):
    """(mean, lower, upper) of own, other and lift where rewards have no range, for decisions (p, forecast, chosen, r, π)."""
    rows = []
    for p, f, a, r, pi in decisions:
        own, g, w = dot(p, f), dot(pi, f), pi[a] / p[a]
        rows.append((r, w, r - own, w * (r - f[a]), g, (1.0 - w) * (r - f[a]), own - g))
    r, w, e, u, g, v, d = (list(column) for column in zip(*rows, strict=True))
    n, ones, away = len(r), [1.0] * len(r), [abs(1.0 - x) for x in w]
    paid, other = sum(x != 0.0 for x in r), always_valid.payments(w, r)
    lift = min(other, always_valid.payments(away, r))
    effective = always_valid.worth(w)
    return (
        always_valid.asymptotic(e, sum(r) / n, e, ones, paid, n, alpha),
        always_valid.asymptotic(u, (sum(u) + sum(g)) / n, e, w, other, effective, alpha),
        always_valid.asymptotic(
            v, (sum(v) + sum(d)) / n, e, away, lift, min(effective, always_valid.worth(away)), alpha
        ),
    )
