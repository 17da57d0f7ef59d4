r"""Table 1 as numbers: the rates of previous work, of the paper and of the lower bounds at a given size, and where they cross.

A rate is a product of powers, up to logarithms, e.g. d^{3/4} P_T^{1/4} T^{3/4}. For the paper's own rows `Row.bound` is the theorem with
all its constants. The constants of the previous works are stated only in their papers, whose full texts were not at hand
here: their rows are the rate alone, with constant 1 and without logarithms (`Row.constants` says so). Compare rates with rates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log, pi, sqrt
from typing import Any

from ..errors import InvalidValue, integer, positive
from .common import Bound, Variant, dimension, drift, horizon, norms
from .generalized import glb_regret_bound
from .linear import lb_regret_bound
from .piecewise import scb_pw_regret_bound
from .self_concordant import scb_regret_bound

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
RATE_ALONE = "rate alone: constant 1, no logarithms; the constants are in the source"
Powers = Mapping[str, float]

LB_OURS: Powers = {"d": 3 / 4, "P_T": 1 / 4, "T": 3 / 4}
LB_EARLIER: Powers = {"d": 7 / 8, "P_T": 1 / 4, "T": 3 / 4}
LB_LOWER: Powers = {"d": 2 / 3, "P_T": 1 / 3, "T": 2 / 3}
GLB_OURS: Powers = {"k_mu": 5 / 4, "c_mu": -3 / 4, **LB_OURS}
SCB_OURS: Powers = {"k_mu": 5 / 4, "c_mu": -1 / 2, **LB_OURS}
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
MDP_LOWER: Powers = {"d": 5 / 6, "Delta": 1 / 3, "H": 2 / 3, "T": 2 / 3}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One bound of Table 1: its rate as a formula and as a number, and for the paper's own theorems the bound with constants.

    Examples
    --------
    >>> row = table1(T=6000, d=2, P_T=6.283185, changes=5, S=1).rows[1]
    >>> row.algorithm, round(row.bound.total)
    ('LB-WeightUCB', 30421)
    """

    setting: str
    algorithm: str
    kind: str  # "previous", "paper", "adaptive" or "lower"
    rate: str
    value: float  # the rate at this size, with constant 1 and without logarithms
    source: str
    constants: str
    bound: Bound | None = None


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where the paper's rate becomes the smaller one: for `name` above (or below) `value`, the rest fixed; always if 0 or ∞.

    Examples
    --------
    >>> Crossing(setting="LB", name="d", side="above", value=1.0)
    Crossing(setting='LB', name='d', side='above', value=1.0)
    """

    setting: str
    name: str
    side: str  # "above" or "below"
    value: float


@dataclass(frozen=True, kw_only=True)
class Table1:
    """The rows at one size, and the crossings.

    Examples
    --------
    >>> [crossing.name for crossing in table1(T=6000, d=2, P_T=6.283185).crossings][:1]
    ['d']
    """

    size: Mapping[str, float]
    rows: tuple[Row, ...]
    crossings: tuple[Crossing, ...]


# -------------------------------------------------------------------------------------------------------------- the rates


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
    return rate(LB_EARLIER, _size(T=T, d=d, P_T=P_T))


def bvd_regret_rate(*, T: int, d: int, P_T: float, k_mu: float, c_mu: float) -> float:
    """BVD-GLM-UCB: k_μ² c_μ^{−1} d^{9/10} P_T^{1/5} T^{4/5}, the rate alone (Faury, Russac, Abeille, Calauzènes 2021).

    Examples
    --------
    >>> round(bvd_regret_rate(T=6000, d=2, P_T=6.283185, k_mu=0.25, c_mu=0.196612), 1)
    902.3
    """
    return rate(BVD, _size(T=T, d=d, P_T=P_T, k_mu=k_mu, c_mu=c_mu))


def sc_d_glm_regret_rate(*, T: int, d: int, changes: int, c_mu: float) -> float:
    """SC-D-GLUCB: c_μ^{−1/3} d^{2/3} Γ_T^{1/3} T^{2/3}, the rate alone (Russac, Faury, Cappé, Garivier 2021).

    Examples
    --------
    >>> round(sc_d_glm_regret_rate(T=6000, d=2, changes=5, c_mu=0.196612), 1)
    1541.4
    """
    return rate(SC_D, _size(T=T, d=d, changes=changes, c_mu=c_mu))


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
    size = _size(T=T, d=d, P_T=P_T, changes=changes, k_mu=k_mu, c_mu=c_mu)
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
    return rate(LB_LOWER, _size(T=T, d=d, P_T=P_T))


def mdp_lower_rate(*, T: int, d: int, H: int, Delta: float) -> float:
    """Linear mixture MDPs: Ω(d^{5/6} Δ^{1/3} H^{2/3} T^{2/3}) (Zhong et al. 2022); the rate alone. T = KH.

    Examples
    --------
    >>> round(mdp_lower_rate(T=15000, d=2, H=10, Delta=55.0), 1)
    19129.6
    """
    return rate(MDP_LOWER, _size(T=T, d=d, H=H, Delta=Delta))


# -------------------------------------------------------------------------------------------------------------- the table


def table1(
    *,
    T: int,
    d: int,
    P_T: float | None = None,
    changes: int | None = None,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    m: float = 1.0,
    link: str = "logistic",
    H: int | None = None,
    Delta: float | None = None,
    kappa: float | None = None,
    variant: Variant = "printed",
) -> Table1:
    """Table 1 at one size: every row for which the size says enough, and where each improvement of the paper begins.

    Parameters
    ----------
    T, d : rounds and dimension (for MDPs T = KH).
    P_T, changes : path length and number of changes Γ_T; rows that need the other one are left out.
    S, L, R, m : bounds of ‖θ‖, ‖x‖, the noise and the reward.
    link : "logistic", "probit", "poisson" or "identity": k_μ and c_μ on |z| ≤ LS.
    H, Delta, kappa : MDP rows, if given.
    variant : of the paper's own bounds.

    Examples
    --------
    >>> table = table1(T=6000, d=2, P_T=6.283185, changes=5, S=1)
    >>> [row.algorithm for row in table.rows if row.kind == "previous"]
    ['D-LinUCB', 'BVD-GLM-UCB', 'BVD-GLM-UCB', 'SC-D-GLUCB']
    >>> round(table.rows[1].bound.total)
    30421
    """
    S, L = norms(S, L)
    k_mu, c_mu = _named_slopes(link, L * S)
    size = _size(T=T, d=d, P_T=P_T, changes=changes, k_mu=k_mu, c_mu=c_mu, H=H, Delta=Delta, kappa=kappa)
    rows: list[Row] = []
    crossings: list[Crossing] = []
    for setting, previous, earlier, ours, powers, extra in _lines():
        if not powers.keys() <= size.keys():
            continue
        if earlier is not None:
            rows.append(_row(setting, previous[0], "previous", earlier, size, previous[1], None))
            crossings += _crossings(setting, powers, earlier, size)
        rows.append(
            _row(
                setting,
                ours,
                "paper",
                powers,
                size,
                "Wang, Zhao, Zhou, Table 1",
                _theorem(setting, size, S, L, R, m, variant),
            )
        )
        for kind, name, forms, source in extra:
            known = [p for p in forms if p.keys() <= size.keys()]
            if known:
                best = min(known, key=lambda p: rate(p, size))
                rows.append(_row(setting, name, kind, best, size, source, None))
    return Table1(size=size, rows=tuple(rows), crossings=tuple(crossings))


def _lines() -> list[tuple[str, tuple[str, str], Powers | None, str, Powers, list[Any]]]:
    """Setting, previous work with its source and rate, the paper's algorithm and rate, and what else is known."""
    luo = "Wei, Luo 2021; fixed arms"
    master = ("adaptive", "MASTER", MASTER[1:], luo)
    master_glb = ("adaptive", "MASTER+GLM-UCB", MASTER_GLB[1:], luo)
    master_jumps = ("adaptive", "MASTER+GLM-UCB", MASTER_GLB[:1], luo + "; printed without d")
    lower = ("lower", "any algorithm", (LB_LOWER,), "Cheung, Simchi-Levi, Zhu 2019")
    lower_mdp = ("lower", "any algorithm", (MDP_LOWER,), "Zhong, Yang, Wang, Szepesvári 2022")
    faury = ("BVD-GLM-UCB", "Faury, Russac, Abeille, Calauzènes 2021")
    zhong = ("SW-LSVI-UCB", "Zhong, Yang, Wang, Szepesvári 2022")
    return [
        (
            "Drifting LB",
            ("D-LinUCB", "Russac, Vernade, Cappé 2019"),
            LB_EARLIER,
            "LB-WeightUCB",
            LB_OURS,
            [master, lower],
        ),
        ("Drifting GLB", faury, BVD, "GLB-WeightUCB", GLB_OURS, [master_glb]),
        ("Drifting SCB", faury, BVD, "SCB-WeightUCB", SCB_OURS, []),
        (
            "Piecewise-stationary SCB",
            ("SC-D-GLUCB", "Russac, Faury, Cappé, Garivier 2021"),
            SC_D,
            "SCB-PW-WeightUCB",
            PW_OURS,
            [master_jumps],
        ),
        ("Drifting linear mixture MDP", zhong, MDP, "LMDP-WeightUCRL", MDP, [lower_mdp]),
        ("Drifting MNL mixture MDP", ("", ""), None, "MNL-WeightUCRL", MDP_MNL, []),
    ]


def _row(
    setting: str, name: str, kind: str, powers: Powers, size: Mapping[str, float], source: str, bound: Bound | None
) -> Row:
    told = RATE_ALONE if bound is None else f"all constants, {bound.variant}"
    return Row(
        setting=setting,
        algorithm=name,
        kind=kind,
        rate=formula(powers),
        value=rate(powers, size),
        source=source,
        constants=told,
        bound=bound,
    )


def _theorem(
    setting: str, size: Mapping[str, float], S: float, L: float, R: float, m: float, variant: Variant
) -> Bound | None:
    """The paper's bound with its constants. (Theorems 5 and 6 need the features of the MDP: `linear_mixture`, `multinomial`.)"""
    T, d = int(size["T"]), int(size["d"])
    common: dict[str, Any] = {"T": T, "d": d, "S": S, "L": L, "variant": variant}
    slopes: dict[str, Any] = {"k_mu": size["k_mu"], "c_mu": size["c_mu"]}
    if setting == "Drifting LB":
        return lb_regret_bound(**common, P_T=size["P_T"], R=R)
    if setting == "Drifting GLB":
        return glb_regret_bound(**common, **slopes, P_T=size["P_T"], R=m / 2.0)
    if setting == "Drifting SCB" and L <= 1.0:
        return scb_regret_bound(**common, **slopes, P_T=size["P_T"], m=m)
    if setting == "Piecewise-stationary SCB" and L <= 1.0:
        return scb_pw_regret_bound(**common, **slopes, changes=int(size["changes"]), m=m)
    return None


def _crossings(setting: str, ours: Powers, earlier: Powers, size: Mapping[str, float]) -> list[Crossing]:
    """ours < earlier where Π v^{e} < 1: solved for T, d and c_μ one at a time."""
    found = []
    gap = {name: ours.get(name, 0.0) - earlier.get(name, 0.0) for name in {**ours, **earlier}}
    for name in ("T", "d", "c_mu"):
        e = gap.get(name, 0.0)
        if abs(e) < 1e-12:
            continue
        rest = sum(other * log(size[symbol]) for symbol, other in gap.items() if symbol != name and size[symbol] > 0.0)
        found.append(
            Crossing(setting=setting, name=SYMBOLS[name], side="above" if e < 0.0 else "below", value=exp(-rest / e))
        )
    return found


def _size(
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


def _named_slopes(link: str, LS: float) -> tuple[float, float]:
    """k_μ and c_μ of a link known by name, in closed form."""
    low = exp(-LS)
    known = {
        "identity": (1.0, 1.0),
        "logistic": (0.25, low / (1.0 + low) ** 2),
        "probit": (1.0 / sqrt(2.0 * pi), exp(-LS * LS / 2.0) / sqrt(2.0 * pi)),
        "poisson": (exp(LS), low),
    }
    if link not in known:
        raise InvalidValue(f"link = {link!r} is not allowed; it must be one of {', '.join(known)}")
    return known[link]
