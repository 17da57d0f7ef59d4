"""
A recommender whose readers change their minds
==============================================

You have a table of past recommendations: what was shown, to whom, and whether it was clicked. Preferences drift, so old rows mislead. This
tutorial goes from that DataFrame to decisions, and measures what forgetting is worth.
"""

# %%
# The log
# -------
# One row is one past choice. This one is simulated, so that the answer can be checked: young readers prefer *sport* and older ones
# *politics*. During an election everybody reads politics for a while.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import driftbandits as db

ROUNDS = 6000
ARTICLES = ["sport", "politics", "culture"]
rng = np.random.default_rng(0)


def click_rate(article, age, t):
    """The true probability of a click at time t, unknown to the learner."""
    young = 1 / (1 + np.exp((age - 40) / 8))
    election = 0.5 < t / ROUNDS < 0.8
    if election:
        return {"sport": 0.10, "politics": 0.45, "culture": 0.15}[article]
    return {"sport": 0.1 + 0.3 * young, "politics": 0.35 - 0.25 * young, "culture": 0.2}[article]


SHOWN = ROUNDS // 4  # rows of the log
past = pd.DataFrame({"age": rng.integers(18, 75, SHOWN), "article": rng.choice(ARTICLES, SHOWN)})
past["clicked"] = [int(rng.random() < click_rate(a, age, 0)) for a, age in zip(past.article, past.age, strict=True)]
past["shown_at"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(SHOWN), unit="min")
past.head()

# %%
# A warm start
# ------------
# :class:`driftbandits.Bandit` reads the frame as it is: the columns you do not name are the context. Nothing else has to be set; units,
# noise and the speed of drift are learned.

bandit = db.Bandit(reward="click", seed=0)
bandit.fit(past, item="article", reward="clicked", time="shown_at")
for age in (22, 65):
    expected = bandit.estimate(ARTICLES, {"age": age})
    print(age, {name: round(e.mean, 2) for name, e in expected.items()})

# %%
# Live
# ----
# From now on the bandit decides. It is compared with the same learner without forgetting, and with articles shown at random.


def serve(policy):
    """Play all rounds; returns the expected click rate of every decision."""
    people = np.random.default_rng(1)
    earned = []
    for t in range(ROUNDS):
        age = int(people.integers(18, 75))
        article, learn = policy({"age": age}, t)
        rate = click_rate(article, age, t)
        earned.append(rate)
        learn(int(people.random() < rate))
    return np.array(earned)


def bandit_policy(bandit):
    """Decide, and hand back how to learn the click."""
    start = pd.Timestamp("2026-03-03")

    def policy(context, t):
        d = bandit.decide(ARTICLES, context, at=start + pd.Timedelta(minutes=t))
        return d.item, lambda click: bandit.reward(d.id, click)

    return policy


never = db.Bandit(reward="click", half_life=1e9, seed=0)
never.fit(past, item="article", reward="clicked", time="shown_at")
earned = {
    "forgets by itself": serve(bandit_policy(bandit)),
    "never forgets": serve(bandit_policy(never)),
    "at random": serve(lambda context, t: (ARTICLES[t % 3], lambda click: None)),
}
pd.Series({name: rates.mean() for name, rates in earned.items()}).round(4)

# %%
# What it cost
# ------------
# Clicks per decision, averaged over 300 decisions. The shaded stretch is the election. The learner that never forgets adapts slowly when the
# election begins, and slowly again when it ends.

colours = {"forgets by itself": "#0072B2", "never forgets": "#222222", "at random": "#6E6E6E"}
fig, ax = plt.subplots()
window = max(1, ROUNDS // 20)
for name, rates in earned.items():
    ax.plot(np.convolve(rates, np.ones(window) / window, mode="valid"), color=colours[name], label=name)
ax.axvspan(0.5 * ROUNDS, 0.8 * ROUNDS, color="0.85", label="election")
ax.set(xlabel="decision", ylabel="clicks per decision")
ax.legend(ncols=2, loc="upper left")
ax.set_ylim(0.15, 0.56)
plt.show()

# %%
# What it noticed
# ---------------
# Each detected change is an event with a time in UTC, for your monitoring.

pd.DataFrame(bandit.drift_events())

# %%
# Next: :meth:`driftbandits.Bandit.open` keeps a bandit across restarts, and :doc:`/production` serves it over HTTP. To evaluate it on your own
# log before it goes live: :doc:`/tutorials/own_log`.
