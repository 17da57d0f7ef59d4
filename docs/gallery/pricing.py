"""
A price under drifting demand
=============================

Which price earns most when demand is unknown and drifts? The reward is an *amount*: the price if the visitor buys, and 0
otherwise.
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
print(f"{np.sum(earned) / np.sum(best):.1%} of the revenue of the best price at every moment")

# %%
# The prices it asked
# -------------------
# The line is the best price at each moment. The points show how often each price was chosen, in 50 intervals. At first 10 and 12 earn
# nearly the same (9.35 and 9.50 per visitor), and the bandit stays with 10. It reacts to the fall at once and to the slow recovery late,
# because a price that is never offered yields no data.

fig, ax = plt.subplots()
intervals = np.array_split(np.arange(ROUNDS), 50)
for p in PRICES:
    share = [np.mean(np.array(chosen)[s] == p) for s in intervals]
    ax.scatter([s[0] for s in intervals], [p] * 50, s=np.array(share) * 160, color="#0072B2", alpha=0.6, lw=0)
ax.plot(
    [PRICES[int(np.argmax([p * chance(p, t) for p in PRICES]))] for t in range(ROUNDS)],
    color="#222222",
    label="best price",
)
ax.set(xlabel="visitor", ylabel="price", ylim=(4.5, 17.5))
ax.legend(loc="upper right")
plt.show()

# %%
# How far it looks back
# ---------------------
# The effective memory is the number of visitors on which the estimate rests. The speed of the market was not given.

info = bandit.info()
print("effective memory:", round(info["effective_memory"]), "visitors; noise of one reward:", round(info["sigma"], 1))
for event in bandit.drift_events():
    print(event)

# %%
# Every decision was drawn with known probabilities, so other pricing policies can be evaluated on the same log later:
# :doc:`/tutorials/own_log`.
