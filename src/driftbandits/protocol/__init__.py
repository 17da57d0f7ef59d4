r"""The open functions that make a learner: their contracts, and what a part does unless it says otherwise.

A learner repeats, in rounds t = 1, 2, …: choose an arm x_t from the arms on offer, see the reward r_t. Four parts make it. A part answers
open functions with its *methods*; the functions in the last column have a default, so that a new part answers only those it must.

========  =======================  ==========================  ========================================================================
part      question                 must answer                 may answer
========  =======================  ==========================  ========================================================================
memory    what is forgotten?       `elapse`, `recall`          `remember`, `blank_history`, `capacity`, `occupied`, `takes_back`
model     what is estimated, how?  `estimate`                  `blank_sums`, `blank_estimate`, `mean`, `merit`, `promise`, `linearises`,
                                                               `report`
radius    how sure are we?         `beta`, `limits`            `wants_squares`, `wants_horizon`, `anytime`
rule      how do we choose?        `index`                     `choose`, `blank_work`, `anticipate`, `prepare`, `renew`,
                                                               `wants_squares`, `report`
strategy  all of it                `start`, `act`, `scores`,   `ready`, `settle`, `describe`, `trace`, `grow`, `widen`, `make_room`,
                                   `learn`, `limits`           `size`, `sound`, `exact_when_late`
sums      the weighted past        `fade`, `absorb`            `grow`, `widen`, `gained`
========  =======================  ==========================  ========================================================================

Without a default and only for what they allow: `estimator` (Agent.theta), `ellipsoid` (its picture), `optimism` (bases of MASTER),
`propensities` (a random choice), `skip`, `learn_late` and `hears` (late rewards), `noise_size` (rewards of known noise), `add_item` and
`drop_item` (a model per item), `conditioning` (warnings).

`Optimistic` makes a strategy of the four parts; a meta-strategy wraps a strategy and is one itself. *Sums* are what a model keeps of the
past and a memory weighs: `Moments`, unless the model has sums of its own. None of the four parts imports another: what one needs of
another arrives as an argument.

State is a tree of named tuples of arrays, made in Python (`blank_…`, `start`), mutated in place by compiled code. A number that changes is
a one-element array. "Python only" marks functions that compiled code never calls. docs/extending.md has a template for each kind of part.
"""

from .memory import blank_history, capacity, elapse, occupied, recall, remember, takes_back
from .model import blank_estimate, blank_sums, estimate, linearises, mean, merit, promise
from .radius import anytime, beta, wants_horizon, wants_squares
from .rule import anticipate, blank_work, choose, index, prepare, renew
from .strategy import (
    act,
    add_item,
    drop_item,
    exact_when_late,
    hears,
    learn,
    learn_late,
    make_room,
    optimism,
    propensities,
    ready,
    scores,
    settle,
    skip,
    start,
)
from .sums import absorb, fade, gained, grow, widen
from .tuples import NEGLIGIBLE as NEGLIGIBLE
from .tuples import NO_SLOT as NO_SLOT
from .tuples import Choice, Estimate, History, Limits, Moments, Setting
from .tuples import Integers as Integers
from .views import conditioning, describe, ellipsoid, estimator, limits, noise_size, report, size, sound, trace

# fmt: off
__all__ = [  # noqa: RUF022 - in the order of the table above
    "blank_history", "capacity", "remember", "elapse", "recall", "takes_back", "occupied",
    "fade", "absorb", "gained", "grow", "widen",
    "blank_sums", "blank_estimate", "estimate", "mean", "merit", "promise", "linearises",
    "beta", "wants_squares", "wants_horizon", "anytime",
    "blank_work", "anticipate", "prepare", "renew", "choose", "index",
    "settle", "start", "ready", "act", "scores", "propensities", "make_room", "add_item", "drop_item", "optimism", "learn", "skip",
    "learn_late", "exact_when_late", "hears",
    "size", "conditioning", "sound", "limits", "noise_size", "estimator", "ellipsoid", "describe", "report", "trace",
    "Setting", "Limits", "History", "Moments", "Estimate", "Choice",
]
# fmt: on
