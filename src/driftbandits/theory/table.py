r"""Table 1 as numbers: the rates of previous work, of the paper and of the lower bounds at a given size, and where they cross.

A rate is a product of powers, up to logarithms, e.g. d^{3/4} P_T^{1/4} T^{3/4}. For the paper's own rows `Row.bound` is the theorem with
all its constants. The constants of the previous works are stated only in their papers, whose full texts were not at hand
here: their rows are the rate alone, with constant 1 and without logarithms (`Row.constants` says so). Compare rates with rates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf, exp, inf, log, pi, sqrt
from typing import Any

from ..errors import InvalidValue, integer, positive
from .checks import CHECKS, Variant, slopes
from .common import Bound
from .generalized import glb_regret_bound
from .linear import lb_regret_bound
from .linear_mixture import linear_mixture_regret_bound
from .multinomial import mnl_regret_bound
from .piecewise import scb_pw_regret_bound
from .rates import (
    BVD,
    GLB_OURS,
    GLB_SHARP,
    LB_EARLIER,
    LB_LOWER,
    LB_OURS,
    LB_SHARP,
    MASTER,
    MASTER_GLB,
    MDP,
    MDP_LOWER,
    MDP_MNL,
    MDP_MNL_SHARP,
    MDP_SHARP,
    PW_OURS,
    SC_D,
    SCB_OURS,
    SCB_SHARP,
    SYMBOLS,
    Powers,
    formula,
    rate,
    size_of,
)
from .self_concordant import scb_regret_bound

#: Rates without the superfluous √d of the bias lemma, found here (docs/theorems/sharp.md); Theorem 4 has no such bias.
SHARP: Mapping[str, Powers] = {
    "Drifting LB": LB_SHARP,
    "Drifting GLB": GLB_SHARP,
    "Drifting SCB": SCB_SHARP,
    "Drifting linear mixture MDP": MDP_SHARP,
    "Drifting MNL mixture MDP": MDP_MNL_SHARP,
}
RATE_ALONE = "rate alone: constant 1, no logarithms; the constants are in the source"


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
    """Where the paper's rate becomes the smaller one: for `name` above (or below) `value`, the rest fixed.

    Examples
    --------
    >>> str(Crossing(setting="Drifting GLB", name="T", side="above", value=1234.5))
    'T above 1.23e+03'
    >>> str(Crossing(setting="Drifting GLB", name="T", side="above", value=0.01))  # T is at least 1
    'every T'
    >>> str(Crossing(setting="Piecewise-stationary SCB", name="c_μ", side="below", value=1.0, most=0.25))  # and c_μ at most k_μ = 1/4
    'every c_μ'
    >>> str(Crossing(setting="Drifting GLB", name="d", side="below", value=0.3))
    'no d'
    """

    setting: str
    name: str
    side: str  # "above" or "below"
    value: float
    least: float = 0.0  # the range of the quantity: T, d ≥ 1 and 0 < c_μ ≤ k_μ
    most: float = inf

    def __post_init__(self) -> None:
        """T and d count something."""
        if self.name in ("T", "d"):
            object.__setattr__(self, "least", max(self.least, 1.0))

    def __str__(self) -> str:
        """In words; a condition that every value, or none, satisfies is told as such."""
        above = self.side == "above"
        if self.value < self.least if above else self.value >= self.most:
            return f"every {self.name}"
        if self.value >= self.most if above else self.value <= self.least:
            return f"no {self.name}"
        return f"{self.name} {self.side} {self.value:.3g}"


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


# -------------------------------------------------------------------------------------------------------------- the table


def table1(
    *,
    T: int,
    d: int,
    P_T: float | None = None,
    changes: int | None = None,
    S: float = 1.0,
    L: float = 1.0,
    R: float | None = None,
    m: float = 1.0,
    link: str | tuple[float, float, float] = "logistic",
    H: int | None = None,
    Delta: float | None = None,
    kappa: float | None = None,
    U: int = 2,
    variant: Variant = "printed",
) -> Table1:
    """Table 1 at one size: every row for which the size says enough, and where each improvement of the paper begins.

    Parameters
    ----------
    T, d : rounds and dimension (for MDPs T = KH).
    P_T, changes : path length and number of changes Γ_T; rows that need the other one are left out.
    S, L, m : bounds of ‖θ‖ (of the MDP's θ and w too), of ‖x‖ and of the reward.
    R : sub-Gaussian constant; if omitted 1 in the linear row and m/2 in the generalized ones, whose rewards lie in [0, m].
    link : "logistic", "probit", "poisson" or "identity"; or of a link of your own (k_μ, c_μ, gap) on |z| ≤ LS, which
        `links.slopes` and `links.largest_gap` compute.
    H, Delta, kappa : MDP rows, if given. Half of Δ is the rewards' way, half the transitions'; K = ⌊T/H⌋ episodes.
    U : most successors of a state and action, in the bound of the MNL row.
    variant : of the paper's own bounds.

    Examples
    --------
    >>> table = table1(T=6000, d=2, P_T=6.283185, changes=5, S=1)
    >>> [row.algorithm for row in table.rows if row.kind == "previous"]
    ['D-LinUCB', 'BVD-GLM-UCB', 'BVD-GLM-UCB', 'SC-D-GLUCB']
    >>> round(table.rows[1].bound.total)
    30421
    """
    S, L = CHECKS["S"]("S", S), CHECKS["L"]("L", L)
    k_mu, c_mu, gap = _named_link(link, L * S) if isinstance(link, str) else _own_link(link)
    bounds = {"S": S, "L": L, "R": R, "m": m, "gap": gap, "U": integer("U", U, least=2, why="it counts successors")}
    size = size_of(T=T, d=d, P_T=P_T, changes=changes, k_mu=k_mu, c_mu=c_mu, H=H, Delta=Delta, kappa=kappa)
    rows: list[Row] = []
    crossings: list[Crossing] = []
    for setting, previous, earlier, ours, printed, extra in _lines():
        powers = SHARP.get(setting, printed) if variant == "sharp" else printed
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
                "the paper's theorem with the sharper bias" if powers is not printed else "Wang, Zhao, Zhou, Table 1",
                _theorem(setting, size, bounds, variant),
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


def _theorem(setting: str, size: Mapping[str, float], bounds: Mapping[str, Any], variant: Variant) -> Bound | None:
    """The paper's bound with its constants, or None where its assumptions do not hold."""
    T, d = int(size["T"]), int(size["d"])
    S, L, R, m = (bounds[name] for name in ("S", "L", "R", "m"))
    common: dict[str, Any] = {"T": T, "d": d, "S": S, "L": L, "variant": variant}
    link: dict[str, Any] = {"k_mu": size["k_mu"], "c_mu": size["c_mu"], "gap": bounds["gap"]}
    if setting == "Drifting LB":
        return lb_regret_bound(**common, P_T=size["P_T"], R=1.0 if R is None else R)
    if setting == "Drifting GLB":
        return glb_regret_bound(**common, **link, P_T=size["P_T"], R=m / 2.0 if R is None else R)
    if setting == "Drifting SCB" and L <= 1.0:
        return scb_regret_bound(**common, **link, P_T=size["P_T"], m=m)
    if setting == "Piecewise-stationary SCB" and L <= 1.0:
        return scb_pw_regret_bound(**common, **link, changes=int(size["changes"]), m=m)
    if "Delta" in size and 2 * size["H"] <= T:
        H, half = int(size["H"]), 0.5 * size["Delta"]
        mdp: dict[str, Any] = {"K": T // H, "H": H, "d_theta": d, "P_theta": half, "P_w": half, "variant": variant}
        mdp |= {"S_theta": S, "S_w": S, "L_phi": L, "L_psi": L}
        if setting == "Drifting linear mixture MDP":
            return linear_mixture_regret_bound(**mdp)
        return mnl_regret_bound(**mdp, kappa=size["kappa"], U=bounds["U"])
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
        side, most = "above" if e < 0.0 else "below", size["k_mu"] if name == "c_mu" else inf
        found.append(Crossing(setting=setting, name=SYMBOLS[name], side=side, value=exp(-rest / e), most=most))
    return found


def _named_link(link: str, LS: float) -> tuple[float, float, float]:
    """k_μ, c_μ and the largest gap μ(LS) − μ(−LS) of a link known by name, in closed form."""
    low = exp(-LS)
    known = {
        "identity": (1.0, 1.0, 2.0 * LS),
        "logistic": (0.25, low / (1.0 + low) ** 2, (1.0 - low) / (1.0 + low)),
        "probit": (1.0 / sqrt(2.0 * pi), exp(-LS * LS / 2.0) / sqrt(2.0 * pi), erf(LS / sqrt(2.0))),
        "poisson": (exp(LS), low, exp(LS) - low),
    }
    if link not in known:
        raise InvalidValue(
            f"link = {link!r} is not allowed; it must be one of {', '.join(known)}, or (k_μ, c_μ, gap) of a link of your own"
        )
    return known[link]


def _own_link(numbers: tuple[float, float, float]) -> tuple[float, float, float]:
    """k_μ, c_μ and the gap of a link that the theory does not know."""
    try:
        k_mu, c_mu, gap = numbers
    except (TypeError, ValueError):
        raise InvalidValue(
            f"link = {numbers!r} is not allowed; it must be a name or three numbers (k_μ, c_μ, gap)"
        ) from None
    return *slopes(k_mu, c_mu), positive("gap", gap, "it is what the worst arm costs in one round")
