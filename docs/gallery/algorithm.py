"""
Adding an algorithm in 20 lines
===============================

An algorithm is composed of four small parts: a *memory* (which data count, and how much), a *model*, a *radius* and a *rule*. A new idea is
usually one new part. This tutorial adds a memory whose weights follow a power law.
"""

# %%
# The idea
# --------
# After round t, round s counts :math:`w_{t,s} = (s/t)^a`: a power law instead of :math:`\gamma^{t-s}`. The memory grows with its age, so
# nothing has to be tuned to the horizon. A memory answers two open functions: what happens to the sums when a round passes, and how an
# observation enters them.

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db
from driftbandits.core.parts import Memory
from driftbandits.protocol import absorb, elapse, fade, recall

ROUNDS = 4000


class Polynomial(Memory):
    """w_{t,s} = (s/t)^a."""

    a: float


@elapse.register(Polynomial)
def _(memory, history, sums):  # a round passes: w ← w·(1 − 1/t)^a
    history.clock[0] += 1
    fade(sums, (1.0 - 1.0 / history.clock[0]) ** memory.a)


@recall.register(Polynomial)
def _(memory, history, sums, x, r, slot, weight, age):  # an observation of the round `age` rounds ago
    absorb(sums, x, r, slot, weight * (1.0 - age / history.clock[0]) ** memory.a)


# %%
# That is all. The other three parts are those of a known algorithm:

static = db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001)
ours = static._replace(memory=Polynomial(a=20))
print(*ours, sep="\n")

# %%
# Against the others
# ------------------
# It runs in the same compiled loop, at the same speed; with ``NUMBA_DISABLE_JIT=1`` the same code runs in a debugger.

world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(ROUNDS), noise=1.0)
gamma = db.theory.lb_gamma(T=ROUNDS, d=2, P_T=db.theory.path_length(world.path))
rivals = {
    "never forgets": static,
    "γ of Theorem 1": db.zoo.lb_weight_ucb(gamma=gamma, lam=2, S=1, L=1, R=1, delta=0.001),
    "power law, a = 20": ours,
}
fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4))
age = np.arange(0, 1000)
left.plot(age, gamma**age, color="#C44E00", label="γ of Theorem 1")
for t, style in ((1000, ":"), (ROUNDS, "-")):
    left.plot(age, (1 - age / max(t, 1001)) ** 20, color="#8A2BE2", ls=style, label=f"power law at t = {t}")
left.set(xlabel="age", ylabel="weight")
left.legend()
for (name, strategy), colour in zip(rivals.items(), ("#222222", "#C44E00", "#8A2BE2"), strict=True):
    run = db.simulate(strategy, world, seed=0)
    right.plot(run.rounds, run.regret, color=colour, label=name)
right.set(xlabel="round", ylabel="dynamic regret")
right.legend()
fig.tight_layout()
plt.show()

# %%
# Contract tests
# --------------
# :func:`driftbandits.testing.check_strategy` runs the contract of the library on it: a refused call changes nothing, a loaded agent continues bit for
# bit, concurrent calls lose nothing, and more. It returns the names of the checks.

from driftbandits.testing import check_strategy

print(", ".join(check_strategy(ours, rounds=5)))

# %%
# Templates for every kind of part: :doc:`/extending`. To put it into the zoo, with its paper and its record: :doc:`/contributing`.
