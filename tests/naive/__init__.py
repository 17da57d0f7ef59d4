"""Naive oracles: every number of the library, recomputed in plain NumPy/SciPy from the equations and the whole history.

Nothing here imports the library or shares a recursion with it: V, θ̂, β, scores, projections, plans and schedules are
rebuilt from all past samples at every call. Slow and obvious on purpose.
"""

# ruff: noqa: F403
from naive.ball import *
from naive.generalized import *
from naive.glm_scores import *
from naive.linear import *
from naive.links import *
from naive.mdp import *
from naive.measured import *
from naive.meta import *
from naive.multinomial import *
from naive.piecewise import *
from naive.successors import *
