"""Naive oracles: every number of the library, recomputed in plain NumPy/SciPy from the equations and the whole history.

Nothing here imports the library or shares a recursion with it: V, θ̂, β, scores, projections, plans and schedules are
rebuilt from all past samples at every call. Slow and obvious on purpose.
"""

from naive.linear import *  # noqa: F403
