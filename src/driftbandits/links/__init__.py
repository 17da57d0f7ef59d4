r"""Inverse links: the expected reward is μ(xᵀθ) (paper, Section 4).

===========  ==============  =======================  ===============  ==================
link         μ(z)            log-partition b, b′ = μ  rewards          |μ″| ≤ μ′
===========  ==============  =======================  ===============  ==================
`Identity`   z               z²/2                     Gaussian         yes (μ″ = 0)
`Logistic`   1/(1+e^{−z})    log(1+e^z)               Bernoulli        yes
`Probit`     Φ(z)            zΦ(z) + φ(z)             Bernoulli        only for |z| ≤ 1
`Poisson`    e^z             e^z                      Poisson          yes
===========  ==============  =======================  ===============  ==================

|μ″| ≤ μ′ is self-concordance, which the SCB algorithms need. Poisson noise is neither bounded nor sub-Gaussian: with this link every radius
is a heuristic.

A link of your own is a part with three methods, for μ (increasing), μ′ and μ″. A fourth, for b, is needed by the parameter-based
algorithms; a fifth, `law`, tells simulated worlds and learners the distribution of its rewards. `LINKS["cloglog"] = Cloglog()` gives it
a name:

    @part
    class Cloglog(NamedTuple): ...

    @mu.register(Cloglog)
    def _(link, z): ...

No link overflows or underflows, for any z: the logistic and Poisson links are constant beyond |z| = 700 and 300.
"""

from .constants import concordance, concordant_up_to, evaluate, has_log_concave_slope, largest_gap, slopes
from .functions import Law as Law
from .functions import ddmu, dmu, extreme_slopes, law, log_partition, mu
from .known import LINKS as LINKS
from .known import Identity, Logistic, Poisson, Probit, link_of

__all__ = [
    "Identity",
    "Logistic",
    "Poisson",
    "Probit",
    "concordance",
    "concordant_up_to",
    "ddmu",
    "dmu",
    "evaluate",
    "extreme_slopes",
    "has_log_concave_slope",
    "largest_gap",
    "law",
    "link_of",
    "log_partition",
    "mu",
    "slopes",
]
