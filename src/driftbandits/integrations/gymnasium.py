r"""Drifting MDPs as Gymnasium environments, so that any RL code can be run in them.

>>> import gymnasium
>>> import driftbandits.integrations.gymnasium
>>> env = gymnasium.make("driftbandits/RiverSwim-v0", episodes=100)
>>> observation, info = env.reset(seed=0)
>>> info["episode_index"], info["stage"]
(0, 0)

=====================================  ===============================================================
id                                     world (keyword arguments of `make` go to it)
=====================================  ===============================================================
driftbandits/RiverSwim-v0              `mdp.riverswim`, mirrored
driftbandits/RiverSwimCurrent-v0       `mdp.riverswim`, the current changes
driftbandits/MNLRiverSwim-v0           `mdp.mnl_riverswim`, symmetric
driftbandits/MNLRiverSwimOneSided-v0   `mdp.mnl_riverswim`, one-sided
driftbandits/Inventory-v0              `mdp.inventory`
driftbandits/RandomLinearMixture-v0    `mdp.random_linear_mixture`
driftbandits/RandomMNL-v0              `mdp.random_mnl`
=====================================  ===============================================================

Importing this module registers them; `gymnasium.make("driftbandits.integrations.gymnasium:driftbandits/RiverSwim-v0")` imports it by
itself. (Gymnasium 1 has no plug-in entry point any more.)

An observation is the state, or the number h·S + s with `observe_stage=True`: an optimal policy of a finite horizon depends on the stage.
The drift depends on the episode index, which every `reset` after the start of an episode increases. There is no drift after the last
episode. `reset(options={"episode": k})` goes to any episode.
"""

import threading
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .. import mdp as worlds
from ..errors import InvalidState, InvalidValue, integer

WORLDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "RiverSwim": (worlds.riverswim, {"form": "mirror"}),
    "RiverSwimCurrent": (worlds.riverswim, {"form": "current"}),
    "MNLRiverSwim": (worlds.mnl_riverswim, {"form": "symmetric"}),
    "MNLRiverSwimOneSided": (worlds.mnl_riverswim, {"form": "one-sided"}),
    "Inventory": (worlds.inventory, {}),
    "RandomLinearMixture": (worlds.random_linear_mixture, {}),
    "RandomMNL": (worlds.random_mnl, {}),
}


class DriftingMDP(gymnasium.Env[Any, Any]):
    """One episode of the MDP after another; `value_of` gives the exact value of a policy, hence its regret."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 (Gymnasium's own type)

    def __init__(self, world: worlds.MDP, *, observe_stage: bool = False, render_mode: str | None = None) -> None:
        if render_mode not in (None, "ansi"):
            raise InvalidValue(f"render_mode = {render_mode!r} is not allowed; it must be None or 'ansi'")
        self.world = world
        self.observe_stage = observe_stage
        self.render_mode = render_mode
        count = world.states * (world.horizon if observe_stage else 1)
        self.observation_space = spaces.Discrete(count)
        self.action_space = spaces.Discrete(world.actions)
        self._episode, self._stage, self._state = -1, world.horizon, 0
        self._tables: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """The state without the lock, which cannot be copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, with a new lock."""
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin the next episode; with a seed, episode 0; with options={"episode": k}, episode k."""
        with self._lock:
            super().reset(seed=seed)
            if options is not None and "episode" in options:
                episode = integer("episode", options["episode"], least=0, why="it counts episodes from 0")
            elif seed is not None:
                episode = 0
            else:
                episode = self._episode + 1
            self._episode = min(episode, self.world.episodes - 1)
            self._tables = self.world.kernel(self._episode), self.world.rewards(self._episode)
            self._stage, self._state = 0, int(self.world.start[self._episode])
            return self._observation(), self._info()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Play one stage; the episode terminates after H of them."""
        with self._lock:
            if self._tables is None or self._stage >= self.world.horizon:
                raise InvalidState("step outside an episode: call reset first")
            if not self.action_space.contains(action):
                raise InvalidValue(f"action = {action!r} is not allowed; it must be in 0..{self.world.actions - 1}")
            P, pay = self._tables
            reward = float(pay[self._stage, self._state, action])
            if self.world.noise > 0.0:
                reward += self.world.noise * float(self.np_random.standard_normal())
            row = np.cumsum(P[self._stage, self._state, action])
            self._state = int(np.searchsorted(row, self.np_random.random() * row[-1], side="right"))
            self._stage += 1
            return self._observation(), reward, self._stage == self.world.horizon, False, self._info()

    def render(self) -> str | None:
        """One line: episode, stage, and the chain of states with the current one marked."""
        if self.render_mode != "ansi":
            return None
        chain = "".join("●" if s == self._state else "·" for s in range(self.world.states))
        return f"episode {self._episode}  stage {self._stage}/{self.world.horizon}  {chain}"

    def value_of(self, policy: Any) -> float:
        """Exact value, from the first state of the current episode, of a policy of (H, S) actions or (H, S, A) shares."""
        if self._tables is None:
            raise InvalidState("no episode has begun: call reset first")
        start = self.world.start[self._episode]
        return float(worlds.policy_evaluation(self._tables[0], self._tables[1], policy)[0, start])

    @property
    def best_value(self) -> float:
        """V* of the current episode's first state."""
        return float(self.world.optimal[max(self._episode, 0)])

    def _observation(self) -> int:
        if not self.observe_stage:
            return self._state
        return min(self._stage, self.world.horizon - 1) * self.world.states + self._state

    def _info(self) -> dict[str, Any]:
        return {
            "episode_index": self._episode,
            "stage": self._stage,
        }  # "episode" belongs to wrappers that log statistics


def make_env(
    *, world: str, observe_stage: bool = False, render_mode: str | None = None, **arguments: Any
) -> DriftingMDP:
    """The environment of a registered id: `world` is its name, `arguments` go to the world's constructor."""
    build, fixed = WORLDS[world]
    return DriftingMDP(build(**{**fixed, **arguments}), observe_stage=observe_stage, render_mode=render_mode)


def register() -> None:
    """Register all ids ``driftbandits/…-v0``; a second call has no effect."""
    for name in WORLDS:
        if f"driftbandits/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                id=f"driftbandits/{name}-v0",
                entry_point="driftbandits.integrations.gymnasium:make_env",
                kwargs={"world": name},
            )


register()
