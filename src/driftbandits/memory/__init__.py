r"""Memories: the weight w_{t,s} of round s in the estimate after round t.

=============  ============================================  ==========================
memory         w_{t,s}                                       forgets
=============  ============================================  ==========================
`Everything`   1                                             nothing (OFUL, GLM-UCB, …)
`Discounted`   γ^{t−s}                                       gradually (WeightUCB)
`Window`       1 if s > t − W, else 0                        abruptly, one by one
`Restart`      1 since the last multiple of H, else 0        abruptly, all at once
=============  ============================================  ==========================

Weighted, windowed, restarted and static learners differ in their memory alone.
"""

from .discounted import Discounted
from .everything import Everything
from .restart import Restart
from .window import Window

__all__ = ["Discounted", "Everything", "Restart", "Window"]
