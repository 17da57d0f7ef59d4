"""
Reproducing a figure of the paper
=================================

The first panel of the paper's experiments: a parameter that rotates once around the circle in 6000 rounds, 50 arms, and learners with
and without forgetting. One command runs all panels with 20 trials,

.. code-block:: text

    driftbandits reproduce                     # every panel, into results/paper: figures, tables, a report
    driftbandits reproduce lb-regret           # this one

and this page does the same by hand, with four of the learners and five trials, to show each step.
"""

# %%
# The world
# ---------

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db

ROUNDS, TRIALS = 6000, 5
world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(ROUNDS), noise=1.0)
P_T = db.theory.path_length(world.path)
print(world, "path length", round(P_T, 3))

# %%
# The learners, tuned by their theorems
# -------------------------------------
# Every constant is a function of :mod:`driftbandits.theory`: nothing here was chosen by looking at the result.

th = db.theory
gamma = th.lb_gamma(T=ROUNDS, d=2, P_T=P_T)
known = {"lam": th.lb_lambda(d=2), "S": 1.0, "L": 1.0, "R": 1.0, "delta": th.default_delta("lb", T=ROUNDS)}
learners = {
    "OFUL (never forgets)": db.zoo.oful(**known),
    "RestartUCB": db.zoo.restart_ucb(period=th.restart_period(T=ROUNDS, d=2, P_T=P_T), **known),
    "D-LinUCB": db.zoo.d_lin_ucb(gamma=gamma, **known),
    "LB-WeightUCB": db.zoo.lb_weight_ucb(gamma=gamma, **known),
}
print(f"γ = {gamma:.4f}: an observation counts half after {th.half_life(gamma):.0f} rounds")

# %%
# Run and draw
# ------------
# :func:`driftbandits.trials` plays all trials with the same arms, path and noise for every learner. The band is one standard deviation.

# Black never forgets; red and its neighbours forget at a fixed rate.
colours = ("#222222", "#996600", "#7F4F24", "#C44E00")
fig, ax = plt.subplots()
for (name, strategy), colour in zip(learners.items(), colours, strict=True):
    runs = db.trials(strategy, world, trials=TRIALS, seed=0)
    regret = np.array([run.regret for run in runs])
    mean, spread, rounds = regret.mean(axis=0), regret.std(axis=0), runs[0].rounds
    ax.plot(rounds, mean, color=colour, label=f"{name}: {mean[-1]:.0f}")
    ax.fill_between(rounds, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
ax.set(xlabel="round", ylabel="dynamic regret")
ax.legend()
plt.show()

# %%
# What the theorem promises
# -------------------------
# The bound of the theorem, as a number. At this size it exceeds the trivial bound, a loss of 2 per round: the theorem is a statement about the rate.

bound = db.theory.lb_regret_bound(T=ROUNDS, d=2, P_T=P_T)
print(bound)
print("informative:", bound.informative)

# %%
# All panels with their claims, tested one by one: :doc:`/reproduction`. The theorem itself: :doc:`/theorems/theorem-1`.
