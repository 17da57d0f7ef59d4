"""A deep RL algorithm in a drifting MDP: PPO of Stable-Baselines3 on drifting inventory control, next to WeightUCRL.

    pip install "driftbandits[gym]" stable-baselines3        # torch comes with it
    python examples/stable_baselines.py --episodes 2000

Stable-Baselines3 is an option, not a dependency. PPO sees the state and the stage; it knows neither features nor drift. Both are scored by
exact regret: after every chunk of episodes PPO's policy is evaluated by backward induction on the true MDP of that moment.
"""

import argparse

import gymnasium
import numpy as np
from stable_baselines3 import PPO

import driftbandits as db
import driftbandits.integrations.gymnasium


class OneHot(gymnasium.ObservationWrapper):  # type: ignore[type-arg]
    """(stage, state) as a one-hot vector: networks do not like numbers that mean names."""

    def __init__(self, env: gymnasium.Env) -> None:  # type: ignore[type-arg]
        super().__init__(env)
        self.n = int(env.observation_space.n)  # type: ignore[attr-defined]
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (self.n,), np.float32)

    def observation(self, observation: int) -> np.ndarray:
        """One 1 among zeros."""
        return np.eye(self.n, dtype=np.float32)[observation]


def ppo_regret(episodes: int, chunk: int, horizon: int, seed: int) -> np.ndarray:
    """Cumulative regret of PPO, its policy evaluated exactly once a chunk."""
    env = OneHot(gymnasium.make("driftbandits/Inventory-v0", episodes=episodes, horizon=horizon, observe_stage=True))
    world = env.unwrapped.world  # type: ignore[attr-defined]
    model = PPO(
        "MlpPolicy", env, n_steps=chunk * horizon, batch_size=chunk * horizon // 4, gamma=1.0, seed=seed, device="cpu"
    )
    regret = []
    for first in range(0, episodes, chunk):
        choice, _ = model.predict(np.eye(env.n, dtype=np.float32), deterministic=True)
        policy = choice.reshape(horizon, world.states)
        for k in range(first, min(first + chunk, episodes)):
            value = db.mdp.policy_evaluation(world.kernel(k), world.rewards(k), policy)[0, world.start[k]]
            regret.append(world.optimal[k] - value)
        model.learn(chunk * horizon, reset_num_timesteps=False)
    return np.cumsum(regret)


def main() -> None:
    """Compare final regrets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--horizon", type=int, default=12)
    parser.add_argument("--chunk", type=int, default=20, help="episodes between two updates of PPO")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    K, H = given.episodes, given.horizon
    world = db.mdp.inventory(episodes=K, horizon=H)
    table = db.mdp.tabular(world.states, world.actions)
    knowing, blank = (
        db.simulate_mdp(db.zoo.weight_ucrl(), world, seed=given.seed, features=f).regret[-1] for f in (None, table)
    )
    theirs = ppo_regret(K, given.chunk, H, given.seed)[-1]
    print(f"final regret after {K} episodes of {H} days")
    print(f"  weight_ucrl() (knows the demand patterns)  {knowing:9.1f}")
    print(f"  weight_ucrl() (knows nothing)              {blank:9.1f}")
    print(f"  PPO (knows nothing)                        {theirs:9.1f}")
    print(f"  random orders                              {db.mdp.uniform_regret(world)[-1]:9.1f}")


if __name__ == "__main__":
    main()
