r"""RiverSwim that drifts: a chain of states, a current against the swimmer, a small reward at one end and a large one at the other.

    linear mixture    P = Σ_i w_i P_i over base chains P_i, w in the simplex, so that P is a distribution whatever w is
    multinomial       logits of (down, up) against stay

Actions are 0 (left) and 1 (right); the rewards are φᵀθ with φ = (1{first state, left}, 1{last state, right}).
"""

from typing import Any, Literal

import numpy as np

from ..errors import InvalidValue, integer
from .drift import Drift, between, phase
from .environment import MDP
from .mixtures import linear_mixture, mnl_mixture
from .protocol import Cube

SMALL, LARGE = 0.05, 1.0


def riverswim(
    *,
    states: int = 6,
    horizon: int = 10,
    episodes: int = 1500,
    drift: Drift = "gradual",
    form: Literal["mirror", "current"] = "mirror",
    start: int | None = None,
    noise: float = 0.0,
    **path: Any,
) -> MDP:
    """Drifting RiverSwim as a linear mixture (algorithms §3.3).

    Episodes start in the middle (`mirror`) or in the first state (`current`) unless `start` says otherwise.

    `mirror`: the second world is the mirror image of the first, rewards included; what was right becomes wrong. `current`: only the current
    changes, from weak (swimming right succeeds with 0.9) to strong (0.1). `path` goes to `phase`: turns, changes, extent.

    Examples
    --------
    >>> world = riverswim(episodes=1500, horizon=10)
    >>> round(world.P_theta, 2), round(world.P_w, 2), round(world.L_psi, 4), world.S_w
    (26.87, 28.28, 1.4142, 1.0)
    """
    n = integer("states", states, least=2, why="a river has two ends")
    q = phase(episodes, drift, **path)
    if form == "mirror":
        river = _chain(n, right=(0.05, 0.6, 0.35), first=(0.4, 0.6), last=(0.4, 0.6))
        base = [river, river[::-1, ::-1, ::-1]]
        theta = between(np.array([SMALL, LARGE]), np.array([LARGE, SMALL]), q)
    elif form == "current":
        base = [_current(n, 0.9), _current(n, 0.1)]
        theta = np.tile([SMALL, LARGE], (len(q), 1))
    else:
        raise InvalidValue(f"form = {form!r} is not allowed; it must be 'mirror' or 'current'")
    w = between(np.array([1.0, 0.0]), np.array([0.0, 1.0]), q)
    first = _first(n, form == "mirror", start)
    bounds = {"S_theta": 2.0**0.5, "S_w": 1.0}
    return linear_mixture(
        _ends(n), np.stack(base, axis=-1), theta, w, horizon=horizon, start=first, noise=noise, **bounds
    )


def mnl_riverswim(
    *,
    states: int = 6,
    horizon: int = 8,
    episodes: int = 800,
    drift: Drift = "gradual",
    form: Literal["symmetric", "one-sided"] = "symmetric",
    start: int | None = None,
    noise: float = 0.0,
    **path: Any,
) -> MDP:
    """Drifting RiverSwim as a multinomial-logit mixture (algorithms §3.3).

    `symmetric`: both actions are uncertain, d = 4, and the large reward changes sides: static learners are misled.
    `one-sided`: left is certain; right has the logits of the classical chain, whose up and down are exchanged in the
    second world.

    Examples
    --------
    >>> world = mnl_riverswim()
    >>> round(world.Delta, 1), round(world.S_w, 4), world.U
    (34.7, 2.3065, 3)
    """
    n = integer("states", states, least=2, why="a river has two ends")
    q = phase(episodes, drift, **path)
    psi, reachable = np.zeros((n, 2, n, 4)), np.zeros((n, 2, n), bool)
    if form == "symmetric":
        for s in range(n):
            for t in range(max(0, s - 1), min(n, s + 2)):
                reachable[s, :, t] = True
                for a in range(2):
                    if t != s:
                        psi[s, a, t, 2 * a + (t > s)] = 1.0
        w = between(np.array([1.2, -1.2, -1.2, 1.0]), np.array([1.0, -1.2, -1.2, 0.2]), q)
        theta = between(np.array([SMALL, LARGE]), np.array([LARGE, SMALL]), q)
    elif form == "one-sided":
        for s in range(n):
            reachable[s, 0, max(0, s - 1)] = True
            for t in range(max(0, s - 1), min(n, s + 2)):
                reachable[s, 1, t] = True
                if t != s:
                    end = s == (0 if t > s else n - 1)  # leaving an end has a parameter of its own
                    psi[s, 1, t, 2 * end + (t < s)] = 1.0
        w = between(np.array([-0.539, -2.485, 0.405, -0.405]), np.array([-2.485, -0.539, -0.405, 0.405]), q)
        theta = np.tile([SMALL, LARGE], (len(q), 1))
    else:
        raise InvalidValue(f"form = {form!r} is not allowed; it must be 'symmetric' or 'one-sided'")
    first = _first(n, form == "symmetric", start)
    return mnl_mixture(_ends(n), psi, reachable, theta, w, horizon=horizon, start=first, noise=noise, S_theta=2.0**0.5)


def _first(n: int, middle: bool, start: int | None) -> int:
    """The first state: where both ends tempt, unless it is given."""
    return start if start is not None else (n - 1) // 2 if middle else 0


def _ends(n: int) -> Cube:
    """φ: left in the first state, right in the last."""
    phi = np.zeros((n, 2, 2))
    phi[0, 0, 0] = phi[n - 1, 1, 1] = 1.0
    return phi


def _chain(n: int, *, right: tuple[float, float, float], first: tuple[float, float], last: tuple[float, float]) -> Cube:
    """P (n, 2, n): left is certain; right moves (−1, 0, +1), from the ends (0, +1) and (−1, 0)."""
    P = np.zeros((n, 2, n))
    for s in range(n):
        P[s, 0, max(0, s - 1)] = 1.0
    P[0, 1, :2] = first
    P[n - 1, 1, n - 2 :] = last
    for s in range(1, n - 1):
        P[s, 1, s - 1 : s + 2] = right
    return P


def _current(n: int, p: float) -> Cube:
    """Swimming right succeeds with p; what would leave the chain stays."""
    down, stay = 0.25 * (1.0 - p), 0.75 * (1.0 - p)
    return _chain(n, right=(down, stay, p), first=(stay + down, p), last=(down, stay + p))
