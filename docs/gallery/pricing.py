"""
A price under drifting demand
=============================

Which price earns most when the demand is unknown and drifts? The reward is an *amount*: the price if the visitor buys,
otherwise nothing.
"""

# %%
# The market
# ----------
# A visitor buys if the price is below the value of the product to them. That value falls when a competitor appears, and recovers slowly.

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db

ROUNDS = 5000
PRICES = [6.0, 8.0, 10.0, 12.0, 14.0, 16.0]


def worth(t):
    """Mean worth at time t: 14, then 8 from two fifths on, back to 13 at the end."""
    s = t / ROUNDS
    return 14.0 if s < 0.4 else 8.0 + 5.0 * max(0.0, (s - 0.6) / 0.4)


def chance(price, t):
    """The chance of a sale."""
    return 1 / (1 + np.exp((price - worth(t)) / 1.5))


# %%
# Features shared by the prices
# -----------------------------
# Six prices could be six unrelated items. But a sale at 8 is also evidence about 10: with the price and its square as features,
# every sale teaches about all prices. A function says what the model sees.

bandit = db.Bandit(reward="value", features=lambda item, context: {"p": item["p"], "p2": item["p"] ** 2}, seed=0)
offers = {f"{p:.0f}": {"p": p} for p in PRICES}

rng = np.random.default_rng(0)
chosen, earned, best = [], [], []
for t in range(ROUNDS):
    d = bandit.decide(offers, at=60.0 * t)
    price = float(d.item)
    bandit.reward(d.id, price * (rng.random() < chance(price, t)), at=60.0 * t)
    expected = [p * chance(p, t) for p in PRICES]
    chosen.append(price)
    earned.append(price * chance(price, t))
    best.append(max(expected))
print(f"{np.sum(earned) / np.sum(best):.1%} of what somebody earns who knows the demand")

# %%
# The prices it asked
# -------------------
# The line is the best price of the moment; the points are the shares of its decisions, in 50 stretches. At first 10 and 12 earn nearly the
# same (9.35 and 9.50 per visitor), and it stays with 10; the fall is seen at once, the slow recovery late: a price nobody asks teaches
# nothing.

fig, ax = plt.subplots()
stretches = np.array_split(np.arange(ROUNDS), 50)
for p in PRICES:
    share = [np.mean(np.array(chosen)[s] == p) for s in stretches]
    ax.scatter([s[0] for s in stretches], [p] * 50, s=np.array(share) * 160, color="tab:blue", alpha=0.6, lw=0)
ax.plot(
    [PRICES[int(np.argmax([p * chance(p, t) for p in PRICES]))] for t in range(ROUNDS)],
    color="tab:red",
    label="best price",
)
ax.set(xlabel="visitor", ylabel="price", ylim=(4.5, 17.5))
ax.legend(loc="upper right")
plt.show()

# %%
# How far it looks back
# ---------------------
# Effective memory: how many visitors its estimate rests on. Nothing was told about the speed of the market.

info = bandit.info()
print("effective memory:", round(info["effective_memory"]), "visitors; noise of one reward:", round(info["sigma"], 1))
for event in bandit.drift_events():
    print(event)

# %%
# Every decision was drawn with known probabilities, so that other prices can be judged on the same log later:
# :doc:`/tutorials/own_log`.
