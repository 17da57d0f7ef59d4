"""
A drifting decision process of your own
=======================================

In a decision process an action changes the state in which the next decision is made. Here a machine wears out. It can be run, serviced
or replaced, and the effect of a service changes during the year.
"""

# %%
# The process
# -----------
# States 0 (new) to 5 (broken); an episode is a shift of 12 hours. Running earns most when the machine is good, and wears it. A service is
# cheap and takes two steps of wear away, a replacement costs the hour. In the middle of the year the spare parts become worthless, so a service
# hardly ever helps. The agent is not informed.

import matplotlib.pyplot as plt
import numpy as np

import driftbandits as db

EPISODES, SHIFT = 1500, 12
RUN, SERVICE, REPLACE = 0, 1, 2
BROKEN = 5


def step(rng, s, a, k):
    """Reward in [0, 1] and the next state, in episode k."""
    helps = 1.0 if k < EPISODES // 2 else 0.1
    if a == REPLACE:
        return 0.0, 0
    if a == SERVICE:
        return 0.3, max(0, s - 2) if rng.random() < helps else s
    if s == BROKEN:
        return 0.0, BROKEN
    return 1.0 - 0.15 * s, s + 1 if rng.random() < 0.6 else s


# %%
# An agent without prior knowledge
# --------------------------------
# The agent is given only the numbers of states and actions. It adapts its rate of forgetting to the data.


def play(strategy):
    """All episodes; returns what each earned and the policy at the end of every one."""
    rng = np.random.default_rng(0)
    agent = db.EpisodicAgent(strategy, db.mdp.tabular(6, 3), horizon=SHIFT, seed=0)
    earned, policies = [], []
    for k in range(EPISODES):
        agent.begin_episode()
        s, total = 0, 0.0
        for h in range(SHIFT):
            a = agent.act(h, s)
            reward, s_next = step(rng, s, a, k)
            agent.observe(h, s, a, reward, s_next)
            s, total = s_next, total + reward
        earned.append(total)
        policies.append([agent.act(0, s) for s in range(6)])
    return np.array(earned), np.array(policies), agent


learners = {"adapts its memory": db.zoo.weight_ucrl(), "never forgets": db.zoo.ucrl_vtr()}
played = {name: play(strategy) for name, strategy in learners.items()}
for name, (earned, _, _) in played.items():
    half = EPISODES // 2
    print(f"{name}: {earned[:half].mean():.2f} per shift before the change, {earned[half:].mean():.2f} after it")

# %%
# What it earned, and what it does
# --------------------------------
# Below: the action in each state at the start of a shift, as it changes over the year.

from matplotlib.colors import ListedColormap

fig, axes = plt.subplots(3, 1, sharex=True, figsize=(7.2, 6), height_ratios=[2, 1, 1])
window = max(1, EPISODES // 15)
for (name, (earned, _, _)), colour in zip(played.items(), ("#0072B2", "#222222"), strict=True):
    axes[0].plot(np.convolve(earned, np.ones(window) / window, mode="valid"), color=colour, label=name)
axes[0].set(ylabel="earned per shift")
axes[0].legend()
colours = ListedColormap(["0.92", "0.6", "0.2"])
for ax, (name, (_, policies, _)) in zip(axes[1:], played.items(), strict=True):
    ax.imshow(policies.T, aspect="auto", cmap=colours, vmin=0, vmax=2, interpolation="nearest", origin="lower")
    ax.set(ylabel="wear", title=f"{name}: run (light), service (grey), replace (dark)")
    ax.grid(visible=False)
axes[-1].set_xlabel("shift")
fig.tight_layout()
plt.show()

# %%
# Its memory
# ----------

agent = played["adapts its memory"][2]
for key, value in agent.info().items():
    if key.startswith("memory"):
        print(key, "all episodes" if value is None else f"{value:.0f} episodes")

# %%
# If your environment is one of Gymnasium's, :func:`driftbandits.run` plays it as it is. If you know more about the process, such
# as simulators or features of transitions, features express it and less has to be learned: :doc:`/mdp`.
