"""Taxi of Gymnasium, unmodified: 500 states, 6 actions, `weight_ucrl()` with nothing set next to Q-learning.

    python experiments/mdp_taxi.py --seed 0      # a minute; mean return over all 1500 episodes, and by tenths of them

The best policy has 7.95 on average over the first states. Q-learning starts from Q = 0, which is optimistic, with discount 0.99; the
settings are shown all.
"""

import argparse
import itertools

import gymnasium
import numpy as np

import driftbandits as db

EPISODES = 1500


def q_learning(step: float, epsilon: float, seed: int) -> np.ndarray:
    """Returns of a Q-learner."""
    learner = db.mdp.baselines.QLearning(
        states=500, actions=6, horizon=200, step=step, epsilon=epsilon, discount=0.99, share_stages=True, start=0.0,
        reward_range=(-10, 20), seed=seed,
    )  # fmt: skip
    return db.run(learner, gymnasium.make("Taxi-v4"), episodes=EPISODES, seed=seed).returns


def ours(horizon: int, seed: int) -> np.ndarray:
    """Returns of `weight_ucrl()`."""
    table = db.mdp.tabular(500, 6)
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), table, horizon=horizon, reward_range=(-10, 20), seed=seed)
    return db.run(agent, gymnasium.make("Taxi-v4"), episodes=EPISODES, seed=seed).returns


def main() -> None:
    """Print a line per learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    found = {f"weight_ucrl(), horizon={H}": ours(H, seed) for H in (30, 200)}
    for step, epsilon in itertools.product((0.4, 1.0), (0.0, 0.1)):
        found[f"Q-learning, step {step}, epsilon {epsilon}"] = q_learning(step, epsilon, seed)
    for name, returns in found.items():
        tenths = " ".join(f"{part.mean():.1f}" for part in np.split(returns, 10))
        print(f"{name:36s} {returns.mean():8.1f}   {tenths}", flush=True)


if __name__ == "__main__":
    main()
