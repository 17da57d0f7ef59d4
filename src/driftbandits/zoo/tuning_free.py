"""The default learner: nothing to set. Ours, beyond the paper."""

from typing import Literal, TypeAlias, get_args

from ..errors import InvalidValue
from ..meta.self_tuning import SelfTuning
from .record import algorithm, algorithms_of

Reward: TypeAlias = Literal["value", "click", "count", "amount"]  # in the order of `RANGES`, which `Bandit` has too
REWARDS = get_args(Reward)


@algorithm(
    family="adaptive",
    remembers="seven exponential memories and a static one; the data choose",
    plays="a random score with known probabilities",
    regret="no theorem is claimed",
    randomised=True,
    example={},
    world="linear",
)
def self_tuning(
    *,
    reward: Reward = "value",
    features: Literal["shared", "disjoint"] = "shared",
    explore: float = 0.0,
) -> SelfTuning:
    """The tuning-free learner: no γ, no bonus, no bounds on features, rewards or noise (ours, beyond the paper).

        7 exponential memories, averaged by how well they forecast; 1 static one with a learned prior; rewards decide between the two

    This is the learner inside `db.Bandit` (`driftbandits.adaptive`) for arms as vectors: for the same offers, draws and timely rewards both
    make the same decisions. It measures features and rewards in their own units, learns how fast the world changes, chooses at random with
    *known* probabilities (`Agent.propensities`), and tells of drift in `info()`. **No regret theorem is claimed**; docs/learner.md has the
    measurements.

    Parameters
    ----------
    reward
        "value": any real number. "click": in [0, 1]. "count", "amount": ≥ 0. Rewards outside are refused; the model is the same. (`Bandit`
        has stricter kinds: its "click" is 0 or 1, its "count" a whole number. A strategy of the zoo knows a range, no more.)
    features
        "shared": every arm has features of its own, `select(arms)` with (n, d). "disjoint": items with a model each,
        `Agent(strategy, dim=d, items=K)` and `select(context)` with (d,).
    explore
        ε: every propensity is at least ε/n. 0.005 costs little; 0.02 doubles the regret of a world that stands still.

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.Agent(db.zoo.self_tuning(), dim=2, seed=0)
    >>> arms = [[1.0, 0.0], [0.0, 1.0]]
    >>> agent.propensities(arms).round(6).tolist()
    [0.5, 0.5]
    >>> for _ in range(200):
    ...     k = agent.select(arms)
    ...     agent.update(reward=[0.2, 0.8][k])
    >>> bool(agent.propensities(arms)[1] > 0.9)
    True
    """
    if reward not in REWARDS:
        raise InvalidValue(f"reward = {reward!r} is not allowed; it must be one of {', '.join(map(repr, REWARDS))}")
    if features not in ("shared", "disjoint"):
        raise InvalidValue(f"features = {features!r} is not allowed; it must be 'shared' or 'disjoint'")
    return SelfTuning(reward=REWARDS.index(reward), disjoint=float(features == "disjoint"), explore=explore)


__all__ = algorithms_of(__name__)
