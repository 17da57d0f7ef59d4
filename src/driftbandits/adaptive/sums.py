r"""The state of the engine: weighted sums of M memories over p shared columns, and of N items over k own columns.

Memory m weighs observation s by exp(−H_m(age)). Shared sums are as of the newest observation of all,

    V = Σ w φφᵀ ,  b = Σ w y φ ,  Q = Σ w y² ,  n = Σ w ,

an item's own sums as of the item's newest one: M_i = Σ w ψψᵀ, S_i = Σ w ψφᵀ, t_i = Σ w y ψ. Everything else is derived from them
(`regression`). The last of several memories is the *static* one: it forgets nothing, is never refuted, and has a prior of its own.

Four memories are computed side by side (`core.lanes`): memory m is lane m mod 4 of group ⌊m/4⌋. Lanes after the last memory repeat it, and
nothing reads them. Of V, E and M_i only the entries on and above the diagonal are kept.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import kernel, solver
from ..core.lanes import LANES, aligned, groups_of, symmetric, upper, zeros
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape

Integers = NDArray[np.int64]
MEMORIES = (
    8.0,
    21.0,
    56.0,
    147.0,
    388.0,
    1024.0,
    math.inf,
)  # in decisions; with the static one, two full groups of lanes
NEVER = -1e18  # before all time; finite, so that differences are
SHARES = (1e-4, 1e-3, 1e-2)  # rates of switching between memories that are tried at once
DIRECT = 64  # up to so many columns estimates are always up to date
UNSEEN, UNNAMED = (
    -1,
    -2,
)  # in place of an item: one that was never observed; a row without a name, which has no own effect

# Places in `numbers`. Many bandits may live in one process, and an array for each number would cost each of them 2 kB.
(
    R0,  # the first reward: y = r − r₀ in all sums
    KNOWN,  # 1: r₀ is known
    COUNT,  # rewards, with those taken back subtracted
    SUM,  # Σy, each counted once
    SQUARES,  # Σy²
    NEWEST,  # the newest observation
    NORMAL,  # lead in nats of the normal law over Student's t₄
    CAL_N,  # residuals counted, over about a thousand rewards,
    CAL_1,  # … beyond one standard deviation,
    CAL_2,  # … beyond two
    FOURTH,  # Σe⁴ of standardised residuals, for their kurtosis
    SECOND,  # Σe²
    USE,  # the longest credible memory
    FIRST,  # the shortest memory that takes part
    ODDS,  # prior probability of the static voice in the duel
    RHO,  # the probability that the static voice decides
    SEPARATE,  # 1: items are told apart by their own effects alone
    SHORTEST,  # no shorter memory will take part again: there are too many columns
    OFFERED,  # how many items were on offer last
    NEXT,  # the decision at which the scales of features are next taken for the prior
    DUE,  # 1: they have been, and the prior moves with the next reward
    LEARNED,  # rewards learned, those taken back included
    NEXT_TUNED,  # … at which the prior is next tuned
    STALE,  # … since estimates of many columns were last up to date; 0: they are
) = range(24)
NUMBERS = 24
ADAPTIVE, STATIC = 0, 1  # the two voices, and their priors


OF_ITEMS = ("own_M", "own_S", "own_t", "own_R", "last")  # arrays of the state that have a row for each item


class State(NamedTuple):
    """Sums and estimates. Every array is read by compiled code: replace several only at once, and `check` them."""

    rate: Vector  # (M,)  of forgetting, per decision or second
    cut: Vector  # (M,)  since when it forgets at that rate, …
    cut_rate: Vector  # (M,)  … and the rate before: a refuted memory continues the one that refuted it
    V: Matrix  # (G, p, p, LANES)
    b: Matrix  # (G, p, LANES)
    Q: Matrix  # (G, LANES)
    n: Matrix  # (G, LANES)
    E: Matrix  # (G, p, p, LANES)  Σ f_i S_iᵀR_iS_i ; p = 0 where no item has own columns
    e: Matrix  # (G, p, LANES)     Σ f_i S_iᵀR_it_i
    tau: Matrix  # (G, LANES)      Σ f_i t_iᵀR_it_i
    U: Matrix  # (G, p, p + 2, LANES)  V − E + Λ = UᵀU, as in `core.lanes`; after it U⁻ᵀ(b − e) and U⁻ᵀ(V − E)₀
    theta: Matrix  # (G, 2, p, LANES)  of y, and of the constant 1
    rest: Matrix  # (G, 3, LANES)  the sum of squares left, a quadratic in the mean reward
    own_M: Matrix  # (N, G, k, k, LANES)
    own_S: Matrix  # (N, G, k, p, LANES)
    own_t: Matrix  # (N, G, k, LANES)
    own_R: Matrix  # (N, G, k, k, LANES)  (M_i + K)⁻¹, both triangles
    last: Vector  # (N,)  the newest observation of each item
    Lam: Matrix  # (2, p, p)  Λ of each voice, in raw coordinates
    Kap: Matrix  # (2, k, k)  K of each voice
    Kinv: Matrix  # (2, k, k)
    weight: Vector  # (M,)  log evidence
    mix: Matrix  # (3, M)  weights of the memories at each rate of switching
    trust: Vector  # (3,)  weights of those rates
    duel: Matrix  # (2, 3)  of each voice: Σw, Σwr, Σw²
    offset: Matrix  # (2, 4)  decades by which each voice's prior precisions differ from where they started
    numbers: Vector  # (NUMBERS,)


class Work(NamedTuple):
    """Room to compute in."""

    phi: Vector  # (p,)
    psi: Vector  # (k,)
    d: Matrix  # (p, LANES)  φ without what the item's own effect explains
    x: Matrix  # (k, LANES)  R_iψ
    arms: Matrix  # (2, p, LANES)  d of up to four items, in the memory in use and the static one
    least: Matrix  # (p, LANES)  what rounding leaves of a pivot of V − E + Λ, …
    own_least: Matrix  # (k, LANES)  … and of M_i + K
    v: Matrix  # (p + 2, LANES)  a row that a factor takes up (`steady`)
    B: Matrix  # (k, p, LANES)
    Wk: Matrix  # (2, k, k, LANES)
    plain: Matrix  # (2, k, k)
    split: Matrix  # (G + 2, 2, k, LANES)  K as an outer product and a diagonal (`explained`), and room to compute in
    kind: Vector  # (1,)  whether K is that, or not, or it is not known yet
    prior: Vector  # (2,)  ψᵀK⁻¹ψ of both voices
    few: Matrix  # (FEW, LANES)  fades and other numbers of one group
    f: Matrix  # (3, G·LANES)  forecasts, their variances, log scores
    share: Vector  # (G·LANES,)  weight of each memory in the mean
    steady: Vector  # (G,)  1: the estimates of the group are up to date already
    refuted: Integers  # (M,)


FEW = 10


def default_rates() -> Vector:
    """Rates of forgetting of the memories that compete, and of the static one."""
    return np.array([-math.log1p(-1.0 / m) for m in MEMORIES] + [0.0])


def size_of(M: int, items: int, p: int, k: int) -> int:
    """Bytes of the large arrays of `new_state`: V, E and U of the shared columns; M, S and R of the items' own.

    Examples
    --------
    >>> state = new_state(default_rates(), 3, 40, 20)
    >>> 0.9 < size_of(len(state.rate), 3, 40, 20) / sum(array.nbytes for array in state) < 1.0
    True
    """
    return 8 * LANES * groups_of(M) * (3 * p * p + items * k * (2 * k + p))


def new_state(rates: Vector, items: int, p: int, k: int) -> State:
    """A state that knows nothing."""
    M = len(rates)
    G, many = groups_of(M), M - 1 if M > 1 else 1
    state = State(
        rate=np.array(rates, np.float64),
        cut=np.full(M, NEVER),
        cut_rate=np.zeros(M),
        V=zeros((G, p, p, LANES)),
        b=zeros((G, p, LANES)),
        Q=zeros((G, LANES)),
        n=zeros((G, LANES)),
        E=zeros((G, p, p, LANES) if k else (G, 0, 0, LANES)),
        e=zeros((G, p, LANES)),
        tau=zeros((G, LANES)),
        U=zeros((G, p, p + 2, LANES)),
        theta=zeros((G, 2, p, LANES)),
        rest=zeros((G, 3, LANES)),
        own_M=zeros((items, G, k, k, LANES)),
        own_S=zeros((items, G, k, p, LANES)),
        own_t=zeros((items, G, k, LANES)),
        own_R=zeros((items, G, k, k, LANES)),
        last=np.full(items, NEVER),
        Lam=np.tile(np.eye(p), (2, 1, 1)),
        Kap=np.tile(np.eye(k), (2, 1, 1)),
        Kinv=np.tile(np.eye(k), (2, 1, 1)),
        weight=np.zeros(M),
        mix=np.full((len(SHARES), M), 1.0 / many),
        trust=np.array([0.5, 0.3, 0.2]),
        duel=np.zeros((2, 3)),
        offset=np.zeros((2, 4)),
        numbers=np.zeros(NUMBERS),
    )
    diagonal = np.arange(p)
    state.U[:, diagonal, diagonal] = 1.0
    state.numbers[[NEWEST, NORMAL, USE]] = NEVER, -10.0, many - 1
    state.numbers[[OFFERED, NEXT, NEXT_TUNED]] = 1.0
    return state


def new_work(M: int, p: int, k: int) -> Work:
    """Room for M memories, p shared and k own columns."""
    G = groups_of(M)
    return Work(
        phi=np.zeros(p),
        psi=np.zeros(k),
        d=zeros((p, LANES)),
        x=zeros((k, LANES)),
        arms=zeros((2, p, LANES)),
        least=zeros((p, LANES)),
        own_least=zeros((k, LANES)),
        v=zeros((p + 2, LANES)),
        B=zeros((k, p, LANES)),
        Wk=zeros((2, k, k, LANES)),
        plain=np.zeros((2, k, k)),
        split=zeros((G + 2, 2, k, LANES)),
        kind=np.zeros(1),
        prior=np.zeros(2),
        few=zeros((FEW, LANES)),
        f=zeros((3, G * LANES)),
        share=np.zeros(G * LANES),
        steady=np.zeros(G),
        refuted=np.zeros(M, np.int64),
    )


def placed(state: State) -> State:
    """The same state, with all that has lanes at an address that suits them."""
    return State(*(aligned(array) if array.shape[-1] == LANES else array for array in state))


def grown(old: State, shared: Integers, own: Integers) -> State:
    """The state over more columns: each continues the old column named here (shared and own ones), or is new, −1.

    A column may continue another one's past: the indicator that a number is present has been the constant until it was first missing.
    Estimates are to be renewed by the caller.
    """
    N, p, k = len(old.last), len(shared), len(own)
    fresh = new_state(old.rate, N, p, k)
    to, k_to = np.flatnonzero(shared >= 0), np.flatnonzero(own >= 0)
    at, k_at = shared[to], own[k_to]
    fresh.b[:, to] = old.b[:, at]
    _move(old.V, to, at, fresh.V)
    if k and N:
        fresh.own_t[:, :, k_to] = old.own_t[:, :, k_at]
        _move(old.own_M, k_to, k_at, fresh.own_M)
        fresh.own_S[:, :, *_block(k_to, to)] = old.own_S[:, :, *_block(k_at, at)]
    kept = ("cut", "cut_rate", "Q", "n", "last", "weight", "mix", "trust", "duel", "offset", "numbers")
    return fresh._replace(**{name: getattr(old, name).copy() for name in kept})


def _move(old: Matrix, to: Integers, at: Integers, new: Matrix) -> None:
    """Symmetric sums (…, p, p, LANES) over other columns: row and column `to` are `at` of the old ones.

    Columns that keep their order keep their triangle, and nothing else is touched: with hundreds of columns these are 100 MB for each item.
    """
    if (np.diff(at) > 0).all():
        new[..., *_block(to, to), :] = old[..., *_block(at, at), :]
        return
    new[..., to[:, None], to, :] = symmetric(old)[..., at[:, None], at, :]
    new[...] = upper(new)


def _block(rows: Integers, columns: Integers) -> tuple[Any, Any]:
    """An index of these rows and columns of a matrix: slices, which are copied many times as fast, where both are all up to some place."""
    if all(len(x) and x[0] == 0 and x[-1] == len(x) - 1 for x in (rows, columns)):
        return slice(len(rows)), slice(len(columns))
    return rows[:, None], columns


def with_items(old: State, N: int) -> State:
    """The state with room for N ≥ today's items."""
    n = len(old.last)
    last = np.r_[old.last, np.full(N - n, NEVER)]
    arrays = {name: zeros((N, *getattr(old, name).shape[1:])) for name in OF_ITEMS if name != "last"}
    for name, array in arrays.items():
        array[:n] = getattr(old, name)
    return old._replace(**arrays, last=last)


def check(state: State, work: Work) -> None:
    """Refuse arrays that do not fit each other; says which one."""
    M, N, k, p = len(state.rate), len(state.last), state.Kap.shape[1], state.b.shape[1]
    for kind, given, like in (("state", state, new_state(state.rate, 0, p, k)), ("work", work, new_work(M, p, k))):
        for name, array in like._asdict().items():
            shape = (N, *array.shape[1:]) if name in OF_ITEMS else array.shape
            if getattr(given, name).shape != shape:
                found = getattr(given, name).shape
                raise InvalidShape(f"{kind}.{name} has shape {found}; it must be {shape}: was the file changed?")
    if not numbers_valid(state):
        raise InvalidShape("the memory in use does not exist; was the file changed?")


@kernel
def adaptive(state: State) -> int:
    """The number of memories that compete; a static one comes after them, if there are several."""
    M = state.rate.shape[0]
    return M - 1 if M > 1 else 1


@kernel
def voice(state: State, m: int) -> int:
    """Whose prior memory m has."""
    return STATIC if m >= adaptive(state) else ADAPTIVE


@kernel
def numbers_valid(state: State) -> bool:
    """Whether the memories that `numbers` names exist."""
    n, M = state.numbers, state.rate.shape[0]
    if n.shape[0] != NUMBERS:
        return False
    first, use, shortest = n[FIRST], n[USE], n[SHORTEST]
    return bool(0.0 <= first < M and 0.0 <= use < M and 0.0 <= shortest < M)


@solver
def fits(state: State, work: Work) -> bool:
    """Whether every array has the shape that compiled code, which checks no bounds, relies on."""
    M, N, k, p = state.rate.shape[0], state.last.shape[0], state.Kap.shape[1], state.b.shape[1]
    G = (M + LANES - 1) // LANES
    pe = p if k > 0 else 0
    vectors = state.cut.shape[0] == M and state.cut_rate.shape[0] == M and state.weight.shape[0] == M
    vectors = vectors and state.Q.shape == (G, LANES) and state.n.shape == (G, LANES) and state.tau.shape == (G, LANES)
    shared = state.V.shape == (G, p, p, LANES) and state.b.shape == (G, p, LANES)
    shared = shared and state.E.shape == (G, pe, pe, LANES) and state.e.shape == (G, p, LANES)
    shared = shared and state.U.shape == (G, p, p + 2, LANES) and state.theta.shape == (G, 2, p, LANES)
    shared = shared and state.rest.shape == (G, 3, LANES) and state.Lam.shape == (2, p, p)
    own = state.own_M.shape == (N, G, k, k, LANES) and state.own_S.shape == (N, G, k, p, LANES)
    own = own and state.own_t.shape == (N, G, k, LANES) and state.own_R.shape == (N, G, k, k, LANES)
    own = own and state.Kap.shape == (2, k, k) and state.Kinv.shape == (2, k, k)
    rates = state.mix.shape == (len(SHARES), M) and state.trust.shape[0] == len(SHARES)
    few = state.duel.shape == (2, 3) and state.offset.shape == (2, 4)
    room = work.phi.shape[0] == p and work.psi.shape[0] == k and work.d.shape == (p, LANES)
    room = (
        room
        and work.x.shape == (k, LANES)
        and work.v.shape == (p + 2, LANES)
        and work.arms.shape == (2, p, LANES)
        and work.B.shape == (k, p, LANES)
    )
    room = (
        room
        and work.Wk.shape == (2, k, k, LANES)
        and work.plain.shape == (2, k, k)
        and work.split.shape == (G + 2, 2, k, LANES)
    )
    room = (
        room
        and work.kind.shape[0] == 1
        and work.prior.shape[0] == 2
        and work.few.shape == (FEW, LANES)
        and work.f.shape == (3, G * LANES)
    )
    room = room and work.share.shape[0] == G * LANES and work.steady.shape[0] == G and work.refuted.shape[0] == M
    room = room and work.least.shape == (p, LANES) and work.own_least.shape == (k, LANES)
    return M > 0 and vectors and shared and own and rates and few and room and numbers_valid(state)
