r"""The state of the engine: weighted sums of M memories over p shared columns, and of N items over k own columns.

Memory m weighs observation s by exp(−H_m(age)). Shared sums are as of the newest observation of all,

    V = Σ w φφᵀ ,  b = Σ w y φ ,  Q = Σ w y² ,  n = Σ w ,

an item's own sums as of the item's newest one: M_i = Σ w ψψᵀ, S_i = Σ w ψφᵀ, t_i = Σ w y ψ. Everything else is derived from them
(`regression`). The last of several memories is the *static* one: it forgets nothing, is never refuted, and has a prior of its own.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.kernel import kernel, solver
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape

Integers = NDArray[np.int64]
MEMORIES = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, math.inf)  # in decisions; a static one is added
NEVER = -1e18  # before all time; finite, so that differences are
SHARES = (1e-4, 1e-3, 1e-2)  # rates of switching between memories that are tried at once
DIRECT = 64  # up to so many columns estimates are renewed with every reward
LANES = 4  # memories whose factors are computed side by side, one in each place of a register, …
NARROW = 24  # … up to so many columns; a factor of more fills registers by itself
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
    STALE,  # … since estimates of many columns were renewed
) = range(24)
NUMBERS = 24
BEFORE, AFTER, NATS = range(3)  # places in `event`: observations before and after the last refutation, and the evidence
ADAPTIVE, STATIC = 0, 1  # the two voices, and their priors


OF_ITEMS = ("own_M", "own_S", "own_t", "own_R", "last")  # arrays of the state that have a row for each item


class State(NamedTuple):
    """Sums and estimates. Every array is read by compiled code: replace several only at once, and `check` them."""

    rate: Vector  # (M,)  of forgetting, per decision or second
    cut: Vector  # (M,)  since when it forgets at that rate, …
    cut_rate: Vector  # (M,)  … and the rate before: a refuted memory continues the one that refuted it
    V: Matrix  # (M, p, p)
    b: Matrix  # (M, p)
    Q: Vector  # (M,)
    n: Vector  # (M,)
    E: Matrix  # (M, p, p)  Σ f_i S_iᵀR_iS_i ; p = 0 where no item has own columns
    e: Matrix  # (M, p)     Σ f_i S_iᵀR_it_i
    tau: Vector  # (M,)     Σ f_i t_iᵀR_it_i
    U: Matrix  # (M, p, p)  V − E + Λ = UᵀU, as in `linalg`
    theta: Matrix  # (M, 2, p)  of y, and of the constant 1
    rest: Matrix  # (M, 3)  the sum of squares left, a quadratic in the mean reward
    own_M: Matrix  # (N, M, k, k)
    own_S: Matrix  # (N, M, k, p)
    own_t: Matrix  # (N, M, k)
    own_R: Matrix  # (N, M, k, k)  (M_i + K)⁻¹
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
    event: Vector  # (3,)


class Work(NamedTuple):
    """Room to compute in."""

    phi: Vector  # (p,)
    psi: Vector  # (k,)
    d: Vector  # (p,)  φ without what the item's own effect explains
    u: Vector  # (p,)
    Rpsi: Vector  # (k,)
    W: Matrix  # (p, p)
    B: Matrix  # (k, p)
    Wk: Matrix  # (3, k, k)
    split: Matrix  # (5, k)  K as an outer product and a diagonal (`explained`)
    f: Matrix  # (3, M)  forecasts, their variances, log scores
    share: Vector  # (M,)  weight of each memory in the mean
    coefficient: Matrix  # (M + 1, p)  θ of each memory for rewards around today's mean; their mean
    lanes: Matrix  # (p, p, LANES)  factors of four memories, place by place; p = 0 where columns are many
    right: Matrix  # (2, p, LANES)  their right-hand sides and solutions
    refuted: Integers  # (M,)


def default_rates() -> Vector:
    """Rates of forgetting of the memories that compete, and of the static one."""
    return np.array([-math.log1p(-1.0 / m) for m in MEMORIES] + [0.0])


def new_state(rates: Vector, items: int, p: int, k: int) -> State:
    """A state that knows nothing."""
    M = len(rates)
    many = M - 1 if M > 1 else 1
    state = State(
        rate=np.array(rates, np.float64),
        cut=np.full(M, NEVER),
        cut_rate=np.zeros(M),
        V=np.zeros((M, p, p)),
        b=np.zeros((M, p)),
        Q=np.zeros(M),
        n=np.zeros(M),
        E=np.zeros((M, p, p) if k else (M, 0, 0)),
        e=np.zeros((M, p)),
        tau=np.zeros(M),
        U=np.tile(np.eye(p), (M, 1, 1)),
        theta=np.zeros((M, 2, p)),
        rest=np.zeros((M, 3)),
        own_M=np.zeros((items, M, k, k)),
        own_S=np.zeros((items, M, k, p)),
        own_t=np.zeros((items, M, k)),
        own_R=np.zeros((items, M, k, k)),
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
        event=np.zeros(3),
    )
    state.numbers[[NEWEST, NORMAL, USE]] = NEVER, -10.0, many - 1
    state.numbers[[OFFERED, NEXT, NEXT_TUNED]] = 1.0
    return state


def new_work(M: int, p: int, k: int) -> Work:
    """Room for M memories, p shared and k own columns."""
    return Work(
        phi=np.zeros(p),
        psi=np.zeros(k),
        d=np.zeros(p),
        u=np.zeros(p),
        Rpsi=np.zeros(k),
        W=np.zeros((p, p)),
        B=np.zeros((k, p)),
        Wk=np.zeros((3, k, k)),
        split=np.zeros((5, k)),
        f=np.zeros((3, M)),
        share=np.zeros(M),
        coefficient=np.zeros((M + 1, p)),
        lanes=np.zeros((p, p, LANES) if p <= NARROW else (0, 0, LANES)),
        right=np.zeros((2, p, LANES)),
        refuted=np.zeros(M, np.int64),
    )


def grown(old: State, shared: Integers, own: Integers) -> State:
    """The state over more columns: each continues the old column named here (shared and own ones), or is new, −1.

    A column may continue another one's past: the indicator that a number is present has been the constant until it was first missing.
    Estimates are to be renewed by the caller.
    """
    M, N, p, k = len(old.rate), len(old.last), len(shared), len(own)
    fresh = new_state(old.rate, N, p, k)
    to, k_to = np.flatnonzero(shared >= 0), np.flatnonzero(own >= 0)
    at, k_at = shared[to], own[k_to]
    fresh.b[:, to] = old.b[:, at]
    fresh.V[:, to[:, None], to] = old.V[:, at[:, None], at]
    if k and N:
        every, memory = np.arange(N)[:, None, None, None], np.arange(M)[:, None, None]
        fresh.own_t[:, :, k_to] = old.own_t[:, :, k_at]
        fresh.own_M[every, memory, k_to[:, None], k_to] = old.own_M[every, memory, k_at[:, None], k_at]
        fresh.own_S[every, memory, k_to[:, None], to] = old.own_S[every, memory, k_at[:, None], at]
    kept = ("cut", "cut_rate", "Q", "n", "last", "weight", "mix", "trust", "duel", "offset", "numbers", "event")
    return fresh._replace(**{name: getattr(old, name).copy() for name in kept})


def with_items(old: State, N: int) -> State:
    """The state with room for N ≥ today's items."""
    more = N - len(old.last)
    fresh = new_state(old.rate, more, old.b.shape[1], old.Kap.shape[1])
    arrays = {name: np.concatenate([getattr(old, name), getattr(fresh, name)]) for name in OF_ITEMS}
    return old._replace(**arrays)


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
    pe, pl = p if k > 0 else 0, p if p <= NARROW else 0
    vectors = state.cut.shape[0] == M and state.cut_rate.shape[0] == M and state.Q.shape[0] == M
    vectors = vectors and state.n.shape[0] == M and state.tau.shape[0] == M and state.weight.shape[0] == M
    shared = state.V.shape == (M, p, p) and state.b.shape == (M, p) and state.E.shape == (M, pe, pe)
    shared = shared and state.e.shape == (M, p) and state.U.shape == (M, p, p) and state.theta.shape == (M, 2, p)
    shared = shared and state.rest.shape == (M, 3) and state.Lam.shape == (2, p, p)
    own = state.own_M.shape == (N, M, k, k) and state.own_S.shape == (N, M, k, p) and state.own_t.shape == (N, M, k)
    own = own and state.own_R.shape == (N, M, k, k) and state.Kap.shape == (2, k, k) and state.Kinv.shape == (2, k, k)
    rates = state.mix.shape == (len(SHARES), M) and state.trust.shape[0] == len(SHARES)
    few = state.duel.shape == (2, 3) and state.offset.shape == (2, 4) and state.event.shape[0] == 3
    room = work.phi.shape[0] == p and work.psi.shape[0] == k and work.d.shape[0] == p and work.u.shape[0] == p
    room = room and work.Rpsi.shape[0] == k and work.W.shape == (p, p) and work.B.shape == (k, p)
    room = (
        room
        and work.Wk.shape == (3, k, k)
        and work.split.shape == (5, k)
        and work.f.shape == (3, M)
        and work.refuted.shape[0] == M
    )
    room = room and work.share.shape[0] == M and work.coefficient.shape == (M + 1, p)
    room = room and work.lanes.shape == (pl, pl, LANES) and work.right.shape == (2, p, LANES)
    return M > 0 and vectors and shared and own and rates and few and room and numbers_valid(state)
