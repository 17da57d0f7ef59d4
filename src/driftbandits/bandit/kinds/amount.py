"""A payment, a duration: never negative, often 0, sometimes large.

Nothing is transformed: means of amounts are what is to be earned, and means of their logarithms are not. A few large amounts do not refute
a memory, because forecasts are then scored by Student's law (`driftbandits.adaptive.evidence`), and they do not make the prior too sure,
because its evidence is tempered (`driftbandits.adaptive.tuning`).
"""

from .kind import Kind

KIND = Kind("a number ≥ 0", low=0.0, accepts=lambda r: r >= 0.0)
