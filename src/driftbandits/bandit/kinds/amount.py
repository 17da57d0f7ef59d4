"""A payment, a duration: never negative, often 0, sometimes large.

Amounts are not transformed: the objective is their mean, and a mean of logarithms is something else. A few large amounts do not refute a
memory, because heavy-tailed forecast errors are scored by Student's distribution (`driftbandits.adaptive.evidence`); nor do they make the
prior overconfident, because its evidence is tempered (`driftbandits.adaptive.tuning`).
"""

from .kind import Kind

KIND = Kind("a number ≥ 0", low=0.0, accepts=lambda r: r >= 0.0)
