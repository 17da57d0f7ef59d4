r"""The open functions that make up a learner: their contracts and their defaults.

In rounds t = 1, 2, … a learner chooses an arm x_t from the arms on offer and observes the reward r_t. It is composed of four parts. A part
implements open functions by its *methods*. Functions in the last column have a default, so a new part needs only those before it.

========  =======================  ==========================  ========================================================================
part      defines                  required methods            optional methods
========  =======================  ==========================  ========================================================================
memory    weights of the past      `elapse`, `recall`          `remember`, `blank_history`, `capacity`, `occupied`, `takes_back`
model     the estimator            `estimate`                  `blank_sums`, `blank_estimate`, `mean`, `merit`, `promise`, `linearises`,
                                                               `report`
radius    the confidence radius    `beta`, `limits`            `wants_squares`, `wants_horizon`, `anytime`
rule      the choice of an arm     `index`                     `choose`, `blank_work`, `anticipate`, `prepare`, `renew`,
                                                               `wants_squares`, `report`
strategy  the whole learner        `start`, `act`, `scores`,   `ready`, `settle`, `describe`, `trace`, `grow`, `widen`, `make_room`,
                                   `learn`, `limits`           `magnitude`, `indices_valid`,
                                                               `exact_when_late`
sums      the weighted past        `fade`, `absorb`            `grow`, `widen`, `gained`
========  =======================  ==========================  ========================================================================

Further functions have no default and enable one feature each: `estimator` (Agent.theta), `ellipsoid` (its picture), `optimism` (bases of
MASTER), `propensities` (randomised choices), `skip`, `learn_late` and `late_refusal` (late rewards), `noise_size` (rewards of known
noise), `add_item` and `drop_item` (a model per item), `conditioning` (warnings).

`Optimistic` composes the four parts into a strategy; a meta-strategy wraps a strategy and is one itself. *Sums* are the statistics that a
model keeps of the past and a memory weights: `Moments`, unless the model defines its own. None of the four parts imports another; what
one needs of another is passed as an argument.

State is a tree of named tuples of arrays, created in Python (`blank_…`, `start`) and mutated in place by compiled code. A number that
changes is a one-element array. "Python only" marks functions that compiled code never calls. docs/extending.md has a template for each
kind of part.
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
    late_refusal,
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
from .views import (
    conditioning,
    describe,
    ellipsoid,
    estimator,
    indices_valid,
    limits,
    magnitude,
    noise_size,
    report,
    trace,
)

# fmt: off
__all__ = [  # noqa: RUF022 - in the order of the table above
    "blank_history", "capacity", "remember", "elapse", "recall", "takes_back", "occupied",
    "fade", "absorb", "gained", "grow", "widen",
    "blank_sums", "blank_estimate", "estimate", "mean", "merit", "promise", "linearises",
    "beta", "wants_squares", "wants_horizon", "anytime",
    "blank_work", "anticipate", "prepare", "renew", "choose", "index",
    "settle", "start", "ready", "act", "scores", "propensities", "make_room", "add_item", "drop_item", "optimism", "learn", "skip",
    "learn_late", "exact_when_late", "late_refusal",
    "magnitude", "conditioning", "indices_valid", "limits", "noise_size", "estimator", "ellipsoid", "describe", "report", "trace",
    "Setting", "Limits", "History", "Moments", "Estimate", "Choice",
]
# fmt: on
