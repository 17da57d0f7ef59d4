"""Several episodes at once, in a vector environment of Gymnasium.

Each of the environments plays the policy that was planned when its episode began. An episode is learned when it is over, from its first
step to its last, whichever environment played it: learners take any actions. Environments that reset themselves in the next step or in the
same one are both understood. They cannot be reset one by one: an episode longer than the agent's H stages is learned in pieces of H.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidValue
from .played import Ends, Played, state_in


class Step(NamedTuple):
    """One step of an episode that is not learned yet."""

    s: int
    a: int
    reward: float
    s_next: int
    terminated: bool
    truncated: bool


def run_vector(
    agent: Any, env: Any, K: int, states: int, seed: int | None, progress: Callable[[int, float], None] | None
) -> Played:
    """Play and learn K episodes."""
    mode = str(getattr(env, "metadata", {}).get("autoreset_mode", "NextStep"))
    if "disabled" in mode.lower():
        raise InvalidValue(
            "the vector environment does not reset itself (autoreset_mode is DISABLED); make it with NEXT_STEP or SAME_STEP"
        )
    same_step = "same" in mode.lower()
    played = Played(np.zeros(K), np.zeros(K, np.int64), np.zeros(K, bool), agent)
    ends = Ends(states, agent.states, agent.horizon)
    observations, _ = env.reset(seed=seed) if seed is not None else env.reset()
    now = [state_in(states, s) for s in observations]
    agent.begin_episode()
    plans = [np.asarray(agent.policy) for _ in now]
    rng = np.random.default_rng(seed)  # of policies that draw their actions
    steps: list[list[Step]] = [[] for _ in now]
    resetting = np.zeros(len(now), bool)  # whose step only resets
    done = 0
    while done < K:
        actions = np.array([_action(plan[len(seen), s], rng) for plan, seen, s in zip(plans, steps, now, strict=True)])
        observations, rewards, ended, cut, info = env.step(actions)
        for i in range(len(now)):
            s_next = state_in(states, observations[i])
            if resetting[i]:
                resetting[i], now[i] = False, s_next
                continue
            over = bool(ended[i] or cut[i])
            last = state_in(states, _final(info, i, s_next)) if over and same_step else s_next
            steps[i].append(Step(now[i], int(actions[i]), float(rewards[i]), last, bool(ended[i]), bool(cut[i])))
            now[i], resetting[i] = s_next, over and not same_step
            if (over or len(steps[i]) == agent.horizon) and done < K:
                _learn(agent, steps[i], ends, played, done)
                done += 1
                if progress is not None:
                    progress(done, float(played.returns[done - 1]))
                agent.begin_episode()
                plans[i], steps[i] = np.asarray(agent.policy), []
    return played


def _action(planned: Any, rng: np.random.Generator) -> int:
    """The action of a policy (H, S), or one drawn from the probabilities of a policy (H, S, A)."""
    return int(planned) if np.ndim(planned) == 0 else int(rng.choice(len(planned), p=planned))


def _final(info: dict[str, Any], i: int, s_next: int) -> Any:
    """The state in which the episode of environment i ended, where it was reset in the same step."""
    final = info.get("final_obs", info.get("final_observation"))
    return s_next if final is None or final[i] is None else final[i]


def _learn(agent: Any, steps: list[Step], ends: Ends, played: Played, k: int) -> None:
    """Episode k, which was played before."""
    for h, step in enumerate(steps):
        to, over = ends.after(h, step.s, step.s_next, step.terminated)
        agent.observe(h, step.s, step.a, step.reward, to, terminated=over, truncated=step.truncated)
    played.returns[k] = sum(step.reward for step in steps)
    played.lengths[k], played.terminated[k] = len(steps), steps[-1].terminated
