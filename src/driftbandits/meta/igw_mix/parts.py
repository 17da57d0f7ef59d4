"""The parameters of IGW-mix, its state, and the state before round 1."""

from typing import Any, NamedTuple

import numpy as np

from ...core.ball import factor_of
from ...core.kernel import part
from ...core.linalg import CHUNK, Matrix, Vector
from ...core.state import scratch
from ...errors import positive, require
from ...protocol import Setting, make_room, start
from ..exp3ix import Exp3IX, Exp3State, blank_exp3
from .families import GaussianForecasts

KNOWN, UNKNOWN, NOISE_KNOWN, BLOCKS = 0.0, 1.0, 2.0, 3.0  # how η is found: Theorem 1 (a), (b), (c), (d)


@part
class IgwMix(NamedTuple):
    """The parameters of the theorem; `rate` is η (or g), the c of η_t = c·t^{1/3}, or the smallest value of the grid of `exp3`."""

    family: Any
    exp3: Exp3IX
    memories: float
    lam: float
    S: float
    L: float
    finite: float
    tuning: float
    rate: float
    kappa: float
    variance: float
    horizon: float

    def check(self) -> None:
        """Bounds must be positive, κ ≥ 1, and clicks need the finite form."""
        for name in ("memories", "lam", "S", "L", "rate"):
            positive(name, getattr(self, name), "the theorem assumes it")
        require(self.kappa >= 1.0, "kappa", self.kappa, "≥ 1", "no design has a smaller certificate")
        linear = isinstance(self.family, GaussianForecasts)
        require(linear or self.finite == 1.0, "finite", self.finite, "1 for clicks", "their ŷ is not linear (§8.1)")


@scratch
class IgwWork(NamedTuple):
    """Workspace for n arms."""

    Z: Vector  # (d·n,)
    mean: Vector  # (n,)
    score: Vector  # (n,) xᵀθ̂ of one expert
    q: Vector  # (n,) the design
    average: Vector  # (n,) of the designs so far
    leverage: Vector  # (n,)
    p: Vector  # (n,)
    key: Vector  # (n,)
    chunk: Matrix  # (d, CHUNK)
    A: Matrix  # (d, d)
    U: Matrix  # (d, d)
    u: Vector  # (d,) U⁻ᵀx
    b: Vector  # (d,) Vθ̂ of the expert at hand
    y: Vector  # (d,) its θ̂ on the ball
    z: Vector  # (d,) workspace of that projection


class Draw(NamedTuple):
    """The randomness of the next decision."""

    u: Vector  # (1,) uniform
    drawn: Vector  # (1,) 1 if u is drawn and not used yet


class Block(NamedTuple):
    """The rounds in which Exp3.IX keeps one η, in (d)."""

    rounds: Vector  # (1,)
    left: Vector  # (1,) of its rounds
    reward: Vector  # (1,) so far


class IgwState(NamedTuple):
    """The state of IGW-mix."""

    V: Matrix  # (K, d, d)
    U: Matrix  # (K, d, d) factors of V
    theta: Matrix  # (K, d)
    weight: Vector  # (K,)
    log: Vector  # (K,)
    n: Vector  # (K,) Σw of each expert
    mixed: Vector  # (d,) Σ w_k θ̂_k
    bandit: Exp3State  # chooses η, in (d)
    block: Block
    draw: Draw
    seen: Vector  # (1,) observations
    kappa: Vector  # (1,) the largest certificate so far
    eta: Vector  # (1,) of the last decision
    squares: Vector  # (1,) Σ(ŷ−r)²
    value: Vector  # (1,)
    work: IgwWork


def _room(d: int, n: int) -> IgwWork:
    return IgwWork(
        Z=np.zeros(d * n),
        mean=np.zeros(n),
        score=np.zeros(n),
        q=np.zeros(n),
        average=np.zeros(n),
        leverage=np.zeros(n),
        p=np.zeros(n),
        key=np.zeros(n),
        chunk=np.zeros((d, CHUNK)),
        A=np.zeros((d, d)),
        U=np.zeros((d, d)),
        u=np.zeros(d),
        b=np.zeros(d),
        y=np.zeros(d),
        z=np.zeros(d),
    )


@start.register(IgwMix)
def _(strategy: IgwMix, setting: Setting, rng: np.random.Generator) -> IgwState:
    K, d = int(strategy.memories), setting.dim
    factor = np.zeros((d, d))
    factor_of(strategy.lam * np.eye(d), 0.0, factor)
    return IgwState(
        V=np.broadcast_to(strategy.lam * np.eye(d), (K, d, d)).copy(),
        U=np.broadcast_to(factor, (K, d, d)).copy(),
        theta=np.zeros((K, d)),
        weight=np.full(K, 1.0 / K),
        log=np.zeros(K),
        n=np.zeros(K),
        mixed=np.zeros(d),
        bandit=blank_exp3(strategy.exp3),
        block=Block(rounds=np.zeros(1), left=np.zeros(1), reward=np.zeros(1)),
        draw=Draw(u=np.zeros(1), drawn=np.zeros(1)),
        seen=np.zeros(1),
        kappa=np.ones(1),
        eta=np.zeros(1),
        squares=np.zeros(1),
        value=np.zeros(1),
        work=_room(d, max(1, setting.arms.shape[1])),
    )


@make_room.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, n: int) -> IgwState:
    return state if len(state.work.p) >= n else state._replace(work=_room(len(state.mixed), n))
