"""The policies of a replay in shares, each of which walks through the log on its own, in this process or on Dask.

Policies do not know of each other: what a policy adds to the sums are columns of its own, and the coins, the forecasts and the logged
rewards depend on the log alone. The sums of several shares are therefore those of one pass, to the last bit. Each share computes the
forecasts of "dr" again, so there are no more shares than workers.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..bandit import Bandit
from .estimators import EACH, HEAD
from .forecast import Forecast
from .log import Log
from .policies import copied
from .result import Walk
from .sums import Sums, Window
from .walk import AlwaysValid, Progress, Walker, walk
from .windows import WindowGrid


class Share(NamedTuple):
    """Some of the policies, with all that a pass over the log needs."""

    policies: dict[str, Any]
    log: Log
    estimators: list[str]
    history: str
    clock: WindowGrid
    late: bool  # do rewards reach a policy at their time?
    valued: bool  # are bounds always valid?
    seed: int

    def split(self, shares: int) -> "Iterator[Share]":
        """At most so many shares of neighbouring policies. Bandits are copied here: a durable one cannot be sent."""
        for names in np.array_split(np.array([*self.policies], object), min(shares, len(self.policies))):
            given = {name: self.policies[name] for name in names}
            yield self._replace(policies={n: copied(n, p) if isinstance(p, Bandit) else p for n, p in given.items()})


class Walked(NamedTuple):
    """What a pass found."""

    walks: list[Walk]
    refused: dict[Any, str]
    sums: Sums
    valued: AlwaysValid | None


def walked(share: Share, progress: Progress | None = None) -> Walked:
    """One pass over the log."""
    log, estimators = share.log, share.estimators
    walkers = [
        Walker(name, given, log, estimators, share.history, share.seed) for name, given in share.policies.items()
    ]
    refused: dict[Any, str] = {}
    for walker in walkers:
        refused |= walker.refused
    sums = Sums(HEAD + EACH * len(walkers))
    forecast = Forecast() if "dr" in estimators else None
    coins = np.random.default_rng([share.seed, 0])
    valued = AlwaysValid(log, len(walkers)) if share.valued else None
    walk(log, walkers, forecast, sums, share.clock, share.late, coins, progress, valued)
    return Walked([w.walk for w in walkers], refused, sums, valued)


def joined(parts: list[Walked]) -> Walked:
    """The shares, in the order of their policies, as one."""
    walks = [walk for part in parts for walk in part.walks]
    refused = {who: why for part in parts for who, why in part.refused.items()}
    sums = Sums(HEAD + EACH * len(walks))
    sums.windows = [_beside(windows) for windows in zip(*(part.sums.windows for part in parts), strict=True)]
    valued = parts[0].valued
    for part in parts[1:]:
        if valued is not None and part.valued is not None:
            valued.weighted += part.valued.weighted
            valued.matched += part.valued.matched
    return Walked(walks, refused, sums, valued)


def _beside(windows: tuple[Window, ...]) -> Window:
    """The same rows in each: what they have in common once, then the columns of each policy."""
    blocks = [
        np.concatenate([block[0][:HEAD], *(each[HEAD:] for each in block)])
        for block in zip(*(window.blocks for window in windows), strict=True)
    ]
    return replace(windows[0], width=len(blocks[0]), blocks=blocks)
