"""
Evaluating on your own log
==========================

Would forgetting have paid on your data, and at which rate? A log of randomised decisions can answer this. If the propensity of every
decision was logged, the log can be reweighted to estimate what another policy would have earned (off-policy evaluation).
"""

# %%
# The log
# -------
# A log needs the item shown, its reward, the probability with which it was chosen, and the time. Here three banners over 20 days, chosen at
# random half of the time; the best one changes on day 10.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import driftbandits as db

ROUNDS = 6000
BANNERS = ["blue", "green", "red"]
rng = np.random.default_rng(0)
day = np.arange(ROUNDS) / ROUNDS * 20
rates = np.where(day[:, None] < 10, [0.30, 0.15, 0.10], [0.10, 0.15, 0.30])  # unknown in practice
usual = np.array([0.5, 0.25, 0.25])  # what the old system did
shown = rng.choice(3, ROUNDS, p=usual)
frame = pd.DataFrame(
    {
        "shown_at": pd.Timestamp("2026-05-01") + pd.to_timedelta(day, unit="D"),
        "banner": np.array(BANNERS)[shown],
        "clicked": (rng.random(ROUNDS) < rates[np.arange(ROUNDS), shown]).astype(int),
        "propensity": usual[shown],
    }
)
frame.head()

# %%
# Reading it
# ----------
# Columns by name; a frame, Parquet, CSV, JSONL, Arrow, or the file of :meth:`driftbandits.Bandit.open`. Everything is checked once; an
# error names its row.

log = db.Log.read(frame, item="banner", reward="clicked", propensity="propensity", time="shown_at", context=[])
print(len(log), "decisions between", log.items)

# %%
# What would they have earned?
# ----------------------------
# :func:`driftbandits.replay` evaluates policies on the log; each learns from the rows before the current one. ``snips`` weights rows by
# propensities, and ``dr`` adds a forecast to lower the variance. Every estimate has an interval and an effective sample size.

policies = {
    "finds the rate itself": db.Bandit(reward="click", seed=0),
    "half-life 1 day": db.Bandit(reward="click", half_life="1d", seed=0),
    "never forgets": db.Bandit(reward="click", half_life=1e9, seed=0),
    "always blue": lambda items, context, at: "blue",
}
result = db.replay(policies, log, estimators=("snips", "dr"), by="day")
table = result.to_pandas()
whole = table[table.window == "all"]
print(whole[["policy", "estimator", "value", "low", "high", "effective_n"]].round(3).to_string(index=False))

# %%
# The log is simulated, so the true values are known: the best banner earns 0.30 in every round, and always showing blue 0.20.

# %%
# Day by day
# ----------

fig, ax = plt.subplots()
colours = {
    "finds the rate itself": "#0072B2",
    "half-life 1 day": "#C44E00",
    "never forgets": "#222222",
    "always blue": "#6E6E6E",
}
for name in policies:
    rows = table[(table.policy == name) & (table.estimator == "dr") & (table.window != "all")]
    ax.plot(np.arange(len(rows)), rows.value, color=colours[name], label=name)
ax.axvline(10, color="0.6", lw=1, ls=":")
ax.set(xlabel="day", ylabel="clicks per decision", ylim=(0, 0.45))
ax.legend(ncols=2)
plt.show()

# %%
# What cannot be estimated is refused
# -----------------------------------
# Without propensities, items must have been chosen uniformly. They were not, so the value cannot be estimated.

bare = db.Log.read(frame.drop(columns="propensity"), item="banner", reward="clicked", time="shown_at", context=[])
try:
    db.replay(policies, bare)
except db.DriftBanditsError as problem:
    print(problem)
