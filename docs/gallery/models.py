"""
Choosing among models whose quality and cost drift
==================================================

Three language models answer your users. They differ in quality and price. A vendor updates one of them overnight, and another becomes
cheaper. Which one should answer the next question? This is a contextual bandit: the context is the kind of question.
"""

# %%
# The models
# ----------
# Quality is a grade between 0 and 1 that you see after every answer (a rating, a unit test, a judge). The reward is quality minus what the
# answer cost, in the same unit: here one point of quality is worth 10 cents.

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db

ROUNDS = 6000
MODELS = ["small", "medium", "large"]
CENTS = 0.1  # of quality per cent


def quality(model, hard, t):
    """Mean grade; the medium model is spoiled by an update at two fifths."""
    easy, difficult = {"small": (0.80, 0.35), "medium": (0.84, 0.68), "large": (0.86, 0.85)}[model]
    grade = difficult if hard else easy
    return grade - 0.35 if model == "medium" and t / ROUNDS > 0.4 else grade


def cents(model, t):
    """Price of an answer; the large model becomes cheaper at seven tenths."""
    return {"small": 0.2, "medium": 1.0, "large": 3.5 if t / ROUNDS < 0.7 else 1.2}[model]


def value(model, hard, t):
    """What an answer is worth."""
    return quality(model, hard, t) - CENTS * cents(model, t)


# %%
# One model per item
# ------------------
# ``features="disjoint"`` estimates each item on its own. That suits few items with many decisions each that have no features in common. The
# cost of an answer is part of the reward, so a price cut is a change like any other.

routers = {
    "forgets by itself": db.Bandit(features="disjoint", seed=0),
    "never forgets": db.Bandit(features="disjoint", half_life=1e9, seed=0),
}
rng = np.random.default_rng(0)
hard = rng.random(ROUNDS) < 0.4
noise = 0.15 * rng.standard_normal(ROUNDS)
played = {name: [] for name in routers}
for t in range(ROUNDS):
    for name, router in routers.items():
        d = router.decide(MODELS, {"hard": bool(hard[t])}, at=float(t))
        router.reward(d.id, value(d.item, hard[t], t) + noise[t], at=float(t))
        played[name].append(d.item)

best = [max(value(m, hard[t], t) for m in MODELS) for t in range(ROUNDS)]
for name, choices in played.items():
    lost = np.sum(best) - np.sum([value(m, hard[t], t) for t, m in enumerate(choices)])
    print(f"{name}: loses {lost:.0f} in {ROUNDS} answers")

# %%
# Which model answers hard questions
# ----------------------------------
# At first the medium model is chosen; after the update only the large one, although it is expensive, until its price is cut.

fig, axes = plt.subplots(2, 1, sharex=True, figsize=(7.2, 4.6))
bins = np.linspace(0, ROUNDS, 41)
for ax, (name, choices) in zip(axes, played.items(), strict=True):
    low = np.zeros(40)
    for model in MODELS:
        where = [t for t in range(ROUNDS) if hard[t] and choices[t] == model]
        share = np.histogram(where, bins)[0] / np.maximum(np.histogram(np.flatnonzero(hard), bins)[0], 1)
        ax.bar(bins[:-1], share, np.diff(bins), low, align="edge", label=model)
        low += share
    ax.axvline(0.4 * ROUNDS, color="k", lw=1, ls=":")
    ax.axvline(0.7 * ROUNDS, color="k", lw=1, ls=":")
    ax.set(ylabel="share", title=name, ylim=(0, 1), xlim=(0, ROUNDS))
    ax.grid(visible=False)
axes[0].legend(ncols=3, loc="lower right", frameon=True)
axes[1].set_xlabel("answer")
fig.tight_layout()
plt.show()

# %%
# When did something change?
# --------------------------
# Drift events are changes that were noticed, with a stated rate of false alarms.

for event in routers["forgets by itself"].drift_events():
    print(event)

# %%
# A model can be added or retired without a restart: include its name in the offer, or leave it out. :doc:`/production` describes what else
# a service needs.
