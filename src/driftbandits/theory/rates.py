r"""The rates of Table 1: of previous work, of the paper, and the lower bounds.

A rate is a product of powers, up to logarithms, e.g. d^{3/4} P_T^{1/4} T^{3/4}; as a number it has constant 1 and no logarithms.
The constants of previous works are stated only in their papers, whose full texts were not at hand here.
"""

from collections.abc import Mapping
from math import exp, inf, log

from ..errors import InvalidValue, integer, positive
from .checks import dimension, drift, horizon

SYMBOLS = {
    "k_mu": "k_μ",
    "c_mu": "c_μ",
    "d": "d",
    "P_T": "P_T",
    "changes": "Γ_T",
    "T": "T",
    "H": "H",
    "Delta": "Δ",
    "kappa": "κ",
}
Powers = Mapping[str, float]

LB_OURS: Powers = {"d": 3 / 4, "P_T": 1 / 4, "T": 3 / 4}
LB_EARLIER: Powers = {"d": 7 / 8, "P_T": 1 / 4, "T": 3 / 4}
LB_LOWER: Powers = {"d": 2 / 3, "P_T": 1 / 3, "T": 2 / 3}
GLB_OURS: Powers = {"k_mu": 5 / 4, "c_mu": -3 / 4, **LB_OURS}
SCB_OURS: Powers = {"k_mu": 5 / 4, "c_mu": -1 / 2, **LB_OURS}
# the same without the superfluous √d of the bias lemma (`variant="sharp"`); in MDPs for L_ψ = O(1)
LB_SHARP: Powers = {"d": 5 / 8, "P_T": 1 / 4, "T": 3 / 4}
GLB_SHARP: Powers = {"k_mu": 5 / 4, "c_mu": -3 / 4, **LB_SHARP}
SCB_SHARP: Powers = {"k_mu": 9 / 8, "c_mu": -3 / 8, **LB_SHARP}
BVD: Powers = {"k_mu": 2, "c_mu": -1, "d": 9 / 10, "P_T": 1 / 5, "T": 4 / 5}
PW_OURS: Powers = {"d": 2 / 3, "changes": 1 / 3, "T": 2 / 3}
SC_D: Powers = {"c_mu": -1 / 3, **PW_OURS}
# MASTER's two forms: by the number of changes, by the path length
MASTER: tuple[Powers, Powers] = ({"d": 1, "changes": 1 / 2, "T": 1 / 2}, {"d": 1, "P_T": 1 / 3, "T": 2 / 3})
MASTER_GLB: tuple[Powers, Powers] = (
    {"k_mu": 1, "c_mu": -1, "changes": 1 / 2, "T": 1 / 2},  # printed without d (Section 1)
    {"k_mu": 4 / 3, "c_mu": -1, "d": 1, "P_T": 1 / 3, "T": 2 / 3},
)
MDP: Powers = {"H": 1, "d": 1, "Delta": 1 / 4, "T": 3 / 4}
MDP_MNL: Powers = {"kappa": -1, **MDP}
MDP_SHARP: Powers = {"H": 1, "d": 5 / 8, "Delta": 1 / 4, "T": 3 / 4}
MDP_MNL_SHARP: Powers = {"kappa": -1, **MDP_SHARP}
MDP_LOWER: Powers = {"d": 5 / 6, "Delta": 1 / 3, "H": 2 / 3, "T": 2 / 3}


def rate(powers: Powers, size: Mapping[str, float]) -> float:
    """The product of powers, at a size that names all its symbols."""
    missing = [SYMBOLS[name] for name in powers if name not in size]
    if missing:
        raise InvalidValue(f"this rate needs {', '.join(missing)}")
    return exp(
        sum(e * log(size[name]) if size[name] > 0.0 else (-inf if e > 0.0 else inf) for name, e in powers.items())
    )


def formula(powers: Powers) -> str:
    """The rate as text.

    Examples
    --------
    >>> formula(GLB_OURS)
    'k_μ^{5/4} c_μ^{−3/4} d^{3/4} P_T^{1/4} T^{3/4}'
    """
    return " ".join(SYMBOLS[name] + _power(e) for name, e in powers.items())


def _power(e: float) -> str:
    if e == 1:
        return ""
    for below in (1, 2, 3, 4, 5, 6, 8, 10):
        if abs(e * below - round(e * below)) < 1e-9:
            above = str(round(e * below)).replace("-", "−")
            return f"^{{{above}/{below}}}" if below > 1 else f"^{{{above}}}"
    return f"^{{{e:g}}}"


def d_lin_regret_rate(*, T: int, d: int, P_T: float) -> float:
    """D-LinUCB, SW-UCB and RestartUCB: d^{7/8} P_T^{1/4} T^{3/4}, the rate alone (Russac et al. 2019; Zhao, Zhang 2021).

    Examples
    --------
    >>> round(d_lin_regret_rate(T=6000, d=2, P_T=6.283185), 1)
    1979.5
    """
    return rate(LB_EARLIER, size_of(T=T, d=d, P_T=P_T))


def bvd_regret_rate(*, T: int, d: int, P_T: float, k_mu: float, c_mu: float) -> float:
    """BVD-GLM-UCB: k_μ² c_μ^{−1} d^{9/10} P_T^{1/5} T^{4/5}, the rate alone (Faury, Russac, Abeille, Calauzènes 2021).

    Examples
    --------
    >>> round(bvd_regret_rate(T=6000, d=2, P_T=6.283185, k_mu=0.25, c_mu=0.196612), 1)
    902.3
    """
    return rate(BVD, size_of(T=T, d=d, P_T=P_T, k_mu=k_mu, c_mu=c_mu))


def sc_d_glm_regret_rate(*, T: int, d: int, changes: int, c_mu: float) -> float:
    """SC-D-GLUCB: c_μ^{−1/3} d^{2/3} Γ_T^{1/3} T^{2/3}, the rate alone (Russac, Faury, Cappé, Garivier 2021).

    Examples
    --------
    >>> round(sc_d_glm_regret_rate(T=6000, d=2, changes=5, c_mu=0.196612), 1)
    1541.4
    """
    return rate(SC_D, size_of(T=T, d=d, changes=changes, c_mu=c_mu))


def master_regret_rate(
    *,
    T: int,
    d: int,
    P_T: float | None = None,
    changes: int | None = None,
    k_mu: float | None = None,
    c_mu: float | None = None,
) -> float:
    """MASTER: min{d √(Γ_T T), d P_T^{1/3} T^{2/3}}, of what is given; with k_μ and c_μ its GLB form (Wei and Luo 2021). The rate alone.

    GLB: min{k_μ c_μ^{−1} √(Γ_T T), k_μ^{4/3} c_μ^{−1} d P_T^{1/3} T^{2/3}}, the first as printed, without d.

    Examples
    --------
    >>> round(master_regret_rate(T=6000, d=2, P_T=6.283185, changes=5), 1)
    346.4
    """
    size = size_of(T=T, d=d, P_T=P_T, changes=changes, k_mu=k_mu, c_mu=c_mu)
    forms = MASTER if k_mu is None else MASTER_GLB
    known = [rate(powers, size) for powers in forms if powers.keys() <= size.keys()]
    if not known:
        raise InvalidValue("MASTER's rate needs P_T or changes (and k_mu with c_mu for its GLB form)")
    return min(known)


def lb_lower_rate(*, T: int, d: int, P_T: float) -> float:
    """Drifting linear bandits, any algorithm: Ω(d^{2/3} P_T^{1/3} T^{2/3}) (Cheung, Simchi-Levi, Zhu 2019); the rate alone.

    Proved for a fixed arm set.

    Examples
    --------
    >>> round(lb_lower_rate(T=6000, d=2, P_T=6.283185), 1)
    967.2
    """
    return rate(LB_LOWER, size_of(T=T, d=d, P_T=P_T))


def mdp_lower_rate(*, T: int, d: int, H: int, Delta: float) -> float:
    """Linear mixture MDPs: Ω(d^{5/6} Δ^{1/3} H^{2/3} T^{2/3}) (Zhong et al. 2022); the rate alone. T = KH.

    Examples
    --------
    >>> round(mdp_lower_rate(T=15000, d=2, H=10, Delta=55.0), 1)
    19129.6
    """
    return rate(MDP_LOWER, size_of(T=T, d=d, H=H, Delta=Delta))


def size_of(
    *,
    T: int,
    d: int,
    P_T: float | None = None,
    changes: int | None = None,
    k_mu: float | None = None,
    c_mu: float | None = None,
    H: int | None = None,
    Delta: float | None = None,
    kappa: float | None = None,
) -> dict[str, float]:
    """What is given, checked."""
    size: dict[str, float] = {"T": horizon("T", T), "d": dimension("d", d)}
    if P_T is not None:
        size["P_T"] = drift("P_T", P_T)
    if changes is not None:
        size["changes"] = integer("changes", changes, least=0, why="Γ_T counts the rounds in which θ changes")
    if H is not None:
        size["H"] = integer("H", H, least=1, why="it is the length of an episode")
    for name, value in (("k_mu", k_mu), ("c_mu", c_mu), ("Delta", Delta), ("kappa", kappa)):
        if value is not None:
            size[name] = positive(name, value, "rates contain powers of it")
    return size
