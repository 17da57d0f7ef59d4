"""The learners that come with the suite, and the rule by which the settings of each are chosen.

In the untuned track a learner knows only what the task tells: its bonus is the published one, and its memory is √(dT) rounds, which is
Theorem 1's for a path of length 1 (√K for K episodes). The tuned track tries at most eight settings on the design draws, the same for every
learner of a role: the length of memory and the size of the bonus.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, Literal

from .. import theory
from .. import zoo as _  # noqa: F401 - fills RECORDS
from ..errors import DriftBanditsError
from ..links import link_of, slopes
from ..zoo.record import RECORDS, parameters
from ..zoo.roles import role_of
from .learners import BanditLearner, LinUCB, Uniform, table_learner
from .task import CannotPlay, Task

Setting = Mapping[str, Any]
Kind = Literal["strategy", "object"]

UNTUNED: Setting = {}
BONUSES: tuple[Setting, ...] = tuple({"bonus": c} for c in (1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01))
MEMORIES: tuple[Setting, ...] = tuple({"memory": m, "bonus": c} for m in (0.02, 0.07, 0.25, 1.0) for c in (0.1, 0.5))
LENGTHS: tuple[Setting, ...] = tuple({"memory": m} for m in (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0))


@dataclass(frozen=True)
class Entrant:
    """A learner that takes part."""

    name: str
    role: str
    kind: Kind
    make: Callable[
        [Task, Setting], Any
    ]  # a strategy, or a function of a seed that returns an object with select and update
    settings: Sequence[Setting] = ()  # of the tuned track; none: there is nothing to tune
    rooms: frozenset[str] = frozenset()  # of the library, beyond those that decide a simulation
    code: str = ""  # digest of a user's own code
    contexts: bool = False  # takes the context where one is on offer for all items

    def build(self, task: Task, setting: Setting) -> Any:
        """The learner for a task. Raises `CannotPlay` if it takes no part in such worlds."""
        try:
            return self.make(task, setting)
        except DriftBanditsError as problem:
            raise CannotPlay(str(problem)) from None


# ------------------------------------------------------------------------------------------------------------------ settings


def memory_of(task: Task, setting: Setting) -> float:
    """Rounds (episodes of an MDP) that are remembered: a share of all, or the untuned √(dT) (√K)."""
    whole = task.episodes or task.horizon
    if "memory" in setting:
        share = setting["memory"]
        return inf if share >= 1.0 else max(2.0, share * whole)
    return sqrt(whole) if task.episodes else sqrt(task.dim * task.horizon)


def gamma_of(task: Task, setting: Setting) -> float:
    """γ = 1 − 1/memory."""
    return 1.0 - 1.0 / memory_of(task, setting)


def window_of(task: Task, setting: Setting) -> int:
    """The same as a window or a period; all rounds for an infinite memory."""
    return round(min(memory_of(task, setting), task.episodes or task.horizon))


def _known(task: Task, setting: Setting) -> dict[str, Any]:
    """Everything that a function of the zoo may ask for in a bandit world."""
    link = task.link
    low = slopes(link_of(link), task.L * task.S)[1]
    return {
        "lam": theory.lb_lambda(d=task.dim),
        "S": task.S,
        "L": task.L,
        "R": task.R,
        "sigma": task.R,
        "delta": 1.0 / (2.0 * task.horizon),
        "gamma": gamma_of(task, setting),
        "window": window_of(task, setting),
        "period": window_of(task, setting),
        "horizon": task.horizon,
        "dim": task.dim,
        "link": link,
        "bonus_scale": setting.get("bonus", 1.0),
        "radius_scale": setting.get("bonus", 1.0),
        "reward": task.reward,
        "corruption": sqrt(task.horizon),
        "c_mu": low,
    }


def _zoo(name: str, **more: Any) -> Callable[[Task, Setting], Any]:
    """The function of the zoo, given what it asks for; `more` overrides."""

    def make(task: Task, setting: Setting) -> Any:
        if task.episodes:
            raise CannotPlay("it is a bandit learner; this is an MDP")
        record = RECORDS[name]
        wanted, known = parameters(record.make), _known(task, setting)
        generalized = "link" in wanted
        known["lam"] = _ridge(name, task, known) if generalized else known["lam"]
        if generalized and task.reward == "value":
            known["m"] = task.largest
        elif generalized and task.reward == "count":
            known["m"] = 4.0 * task.largest
        if "estimator" in wanted:
            known["estimator"] = "one_pass"  # the exact one keeps every round where arms change
        if name in ("glb_omd", "domd_glb") and task.reward != "value":
            del known["R"]  # the noise follows from the link
        known |= more
        return record.make(**{key: value for key, value in known.items() if key in wanted})

    return make


def _ridge(name: str, task: Task, known: Mapping[str, Any]) -> float:
    if name in CONCORDANT:
        return theory.scb_lambda(d=task.dim, T=task.horizon, c_mu=known["c_mu"])
    if name in ("d_glm_ucb", "bvd_glm_ucb"):
        return theory.lb_lambda(d=task.dim)
    return theory.glb_lambda(d=task.dim, c_mu=known["c_mu"])


CONCORDANT = frozenset(
    {"log_ucb1", "log_ucb2", "scb_weight_ucb", "scb_restart_ucb", "sc_d_glm_ucb", "scb_pw_weight_ucb", "ofu_log"}
)


def _over_oful(name: str, **options: str) -> Callable[[Task, Setting], Any]:
    """A meta-strategy around OFUL; `options` are taken from what is known of the task."""

    def make(task: Task, setting: Setting) -> Any:
        base = _zoo("oful")(task, setting)
        known = _known(task, setting)
        return RECORDS[name].make(base, **{key: known[known_as] for key, known_as in options.items()})

    return make


def _on_kernel(task: Task, setting: Setting) -> Any:
    base = _zoo("lb_weight_ucb")(task, setting)
    return RECORDS["on_features"].make(
        base._replace(radius=base.radius._replace(L=1.0)), lengthscale=0.3, frequencies=30
    )


def _bandit(task: Task, setting: Setting) -> Any:
    return BanditLearner.of(task)


def _self_tuning(task: Task, setting: Setting) -> Any:
    if task.episodes:
        raise CannotPlay("it is a bandit learner; weight_ucrl() is the one for MDPs")
    return RECORDS["self_tuning"].make(reward=task.reward, features="disjoint" if task.items else "shared")


# ---------------------------------------------------------------------------------------------------------------------- MDPs


LOGIT = 3e-4  # theory's bonus of multinomial transitions is so much larger than useful ones (resolution D15); only tuning uses it


def _mdp(name: str, multinomial: bool, **options: Any) -> Callable[[Task, Setting], Any]:
    """A learner of the zoo for MDPs, given the bounds of the task."""

    def make(task: Task, setting: Setting) -> Any:
        if not task.episodes or task.multinomial != multinomial:
            raise CannotPlay(
                f"it is for MDPs whose transitions are {'multinomial logit' if multinomial else 'a linear mixture'}"
            )
        H, K, S = task.horizon, task.episodes, task.dim
        lambdas = (
            theory.mnl_lambdas(d_theta=S) if multinomial else theory.linear_mixture_lambdas(H=H, d_theta=max(S // 2, 1))
        )
        known = dict(task.bounds) | {
            "lam_theta": lambdas[0],
            "lam_w": lambdas[1],
            "delta": 1.0 / (2.0 * K * H),
            "gamma": gamma_of(task, setting),
            "window": window_of(task, setting),
            "period": window_of(task, setting),
            "reward_noise": task.R,
            "reward_bonus_scale": setting.get("bonus", 1.0),
            "transition_bonus_scale": setting["bonus"] * (LOGIT if multinomial else 1.0) if "bonus" in setting else 1.0,
        }
        wanted = parameters(RECORDS[name].make)
        return RECORDS[name].make(**{key: value for key, value in known.items() if key in wanted} | options)

    return make


def _nothing_set(task: Task, setting: Setting) -> Any:
    if not task.episodes:
        raise CannotPlay("it is for MDPs")
    return RECORDS["mnl_weight_ucrl"].make() if task.multinomial else RECORDS["weight_ucrl"].make()


def _over_planner(name: str, base: str) -> Callable[[Task, Setting], Any]:
    def make(task: Task, setting: Setting) -> Any:
        known = {"episodes": task.episodes, "period": window_of(task, setting)}
        wanted = parameters(RECORDS[name].make)
        inner = _mdp(base, multinomial=False)(task, setting)
        return RECORDS[name].make(inner, **{key: value for key, value in known.items() if key in wanted})

    return make


def _wlsvi(task: Task, setting: Setting) -> Any:
    if not task.episodes or task.multinomial:
        raise CannotPlay("it is for MDPs with few states, whose transitions it learns as a table")
    return RECORDS["opt_wlsvi"].make(gamma=gamma_of(task, setting), beta=setting.get("bonus", 1.0))


# ------------------------------------------------------------------------------------------------------------------ the list


def _of(name: str, make: Callable[[Task, Setting], Any], settings: Sequence[Setting]) -> Entrant:
    return Entrant(name, role_of(name), "strategy", make, settings)


_LINEAR = ("lb_weight_ucb", "d_lin_ucb", "sw_ucb", "restart_ucb", "d_rand_lin_ucb", "d_lin_ts")
_GENERALIZED = (
    "glb_weight_ucb", "glb_restart_ucb", "sw_glm_ucb", "d_glm_ucb", "bvd_glm_ucb", "domd_glb",
    "scb_weight_ucb", "scb_restart_ucb", "sc_d_glm_ucb",
)  # fmt: skip
_STATIC = ("oful", "cw_oful", "glm_ucb", "glb_omd", "log_ucb1", "log_ucb2", "ofu_log")
_ENTRANTS = (
    Entrant("uniform", "baseline", "object", lambda task, _setting: Uniform.of(task)),
    _of("self_tuning", _self_tuning, ()),
    Entrant("bandit", "tuning-free", "object", _bandit, (), frozenset({"bandit", "agent"}), contexts=True),
    _of("adaptive_weight_ucb", _zoo("adaptive_weight_ucb"), BONUSES),
    _of("adaptive_weight_glm_ucb", _zoo("adaptive_weight_glm_ucb"), BONUSES),
    _of("igw_mix", _zoo("igw_mix", reward="value"), ()),
    _of("bob", _zoo("bob"), BONUSES),
    _of("bob_glm", _zoo("bob_glm"), BONUSES),
    *(_of(name, _zoo(name), MEMORIES) for name in _LINEAR),
    _of("restart_weighted_oful", _zoo("restart_weighted_oful"), MEMORIES),
    _of("wgp_ucb", _zoo("wgp_ucb", lengthscale=0.3, frequencies=30, L=1.0), MEMORIES),
    _of("on_features", _on_kernel, MEMORIES),
    *(_of(name, _zoo(name), LENGTHS) for name in ("wsb_lin_ucb", "wsb_rand_lin_ucb", "wsb_lin_ts")),
    *(_of(name, _zoo(name), MEMORIES) for name in _GENERALIZED),
    _of("scb_pw_weight_ucb", _zoo("scb_pw_weight_ucb"), MEMORIES),
    _of("random_restart", _over_oful("random_restart", period="period"), MEMORIES),
    _of("dal", _over_oful("dal", horizon="horizon", noise="R"), BONUSES),
    _of("dlin_ucb", _zoo("dlin_ucb"), BONUSES),
    _of("master", _over_oful("master", horizon="horizon"), BONUSES),
    *(_of(name, _zoo(name), BONUSES) for name in _STATIC),
    Entrant("numpy_linucb", "fixed forgetting", "object", LinUCB.of, LinUCB.settings),
    Entrant("weight_ucrl", "tuning-free", "strategy", _nothing_set),
    Entrant("weight_ucrl_fixed", "fixed forgetting", "strategy", _mdp("weight_ucrl", False), MEMORIES),
    _of("sw_ucrl", _mdp("sw_ucrl", False), MEMORIES),
    _of("restart_ucrl", _mdp("restart_ucrl", False), MEMORIES),
    _of("ucrl_vtr", _mdp("ucrl_vtr", False), BONUSES),
    _of("bob_ucrl", _over_planner("bob_ucrl", "weight_ucrl"), BONUSES),
    _of("master_ucrl", _over_planner("master_ucrl", "ucrl_vtr"), BONUSES),
    _of("detect_ucrl", _over_planner("detect_ucrl", "ucrl_vtr"), BONUSES),
    Entrant(
        "random_restart_ucrl", "fixed forgetting", "strategy", _over_planner("random_restart", "ucrl_vtr"), MEMORIES
    ),
    _of("opt_wlsvi", _wlsvi, MEMORIES),
    Entrant("mnl_weight_ucrl_fixed", "fixed forgetting", "strategy", _mdp("mnl_weight_ucrl", True), MEMORIES),
    _of("mnl_sw_ucrl", _mdp("mnl_sw_ucrl", True), MEMORIES),
    _of("mnl_restart_ucrl", _mdp("mnl_restart_ucrl", True), MEMORIES),
    _of("ucrl_mnl", _mdp("ucrl_mnl", True), BONUSES),
    *(
        Entrant(name, "baseline", "object", table_learner(name), settings)
        for name, settings in (
            ("q_learning", tuple({"step": s, "explore": e} for s in (0.05, 0.1, 0.3, 0.6) for e in (0.05, 0.2))),
            ("ucbvi", tuple({"fade": 1.0 - f, "scale": c} for f in (0.0, 0.003, 0.01, 0.03) for c in (0.02, 0.1))),
            ("psrl", tuple({"fade": 1.0 - f} for f in (0.0, 0.001, 0.003, 0.006, 0.01, 0.02, 0.05, 0.1))),
        )
    ),
)
ENTRANTS = {entrant.name: entrant for entrant in _ENTRANTS}


def fixed_forgetting(task: Task) -> list[Any]:
    """The strategies among which the best fixed forgetting of a world is found, after the fact."""
    if task.episodes:
        lengths, bonuses = (0.03, 0.1, 0.3, 1.0), (0.03, 0.1, 0.3)
        name = "mnl_weight_ucrl" if task.multinomial else "weight_ucrl"
        make = _mdp(name, task.multinomial)
        return [make(task, {"memory": m, "bonus": c}) for m in lengths for c in bonuses]
    return [
        _zoo("lb_weight_ucb")(task, {"memory": m, "bonus": c})
        for m in (0.01, 0.03, 0.1, 0.3, 1.0)
        for c in (0.03, 0.1, 0.3, 1.0)
    ]
