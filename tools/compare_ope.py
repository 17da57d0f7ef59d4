"""Compare our off-policy estimates with those of the Open Bandit Pipeline, on one log and one policy that learns.

    pip download --no-deps obp==0.4.1 && unzip obp-0.4.1-py3-none-any.whl -d OBP
    python tools/compare_ope.py OBP

obp is not a dependency: it needs torch, of which the estimators for arrays use nothing. Where torch is not installed a stand-in with the
names that obp's annotations mention takes its place.
"""

import importlib
import importlib.util
import pathlib
import sys
import types
from typing import Any

import numpy as np

import driftbandits as db
from driftbandits.replay.forecast import Forecast
from driftbandits.replay.policies import policy_of

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
import logs


def estimators(folder: str) -> Any:
    """obp.ope.estimators, without the rest of the package."""
    if importlib.util.find_spec("torch") is None:
        sys.modules["torch"] = types.SimpleNamespace(Tensor=object)  # type: ignore[assignment]
    for name, place in (("obp", "obp"), ("obp.ope", "obp/ope")):
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder) / place)]
        sys.modules[name] = package
    return importlib.import_module("obp.ope.estimators")


def compare(folder: str) -> dict[str, Any]:
    """Both numbers and intervals for each estimator."""
    obp, found = estimators(folder), {}
    log = logs.log(2000, 0, drift=True)
    rows = [*log]
    policy, forecast = policy_of("bandit", db.Bandit(reward="click"), log, foreign=True), Forecast()
    pi, guess = np.zeros((2, len(rows), 3, 1))
    for t, row in enumerate(rows):
        ahead, asked = forecast.ahead(t, row), policy.ask(t, row)
        pi[t, :, 0] = [asked.p[item] for item in logs.ITEMS]
        guess[t, :, 0] = [ahead[item] for item in logs.ITEMS]
        forecast.learn(t, row)
        policy.tell(t, row)
    told = {
        "reward": np.array([row.reward for row in rows]),
        "action": np.array([logs.ITEMS.index(row.item) for row in rows]),
        "pscore": np.array([row.propensity for row in rows]),
        "action_dist": pi,
        "estimated_rewards_by_reg_model": guess,
        "position": np.zeros(len(rows), int),
    }
    theirs = {
        "ips": obp.InverseProbabilityWeighting(),
        "snips": obp.SelfNormalizedInverseProbabilityWeighting(),
        "dr": obp.DoublyRobust(),
    }
    ours = db.replay({"bandit": db.Bandit(reward="click")}, log, estimators=tuple(theirs))
    for name, estimator in theirs.items():
        a, b = ours.estimate("bandit", name), estimator.estimate_policy_value(**told)
        interval = estimator.estimate_interval(**told, n_bootstrap_samples=2000, random_state=0)
        low, high = (next(v for k, v in interval.items() if which in k) for which in ("lower", "upper"))
        found[name] = {"ours": [a.value, a.low, a.high], "obp": [float(b), float(low), float(high)]}
    uniform = logs.log(2000, 1, uniform=True)
    fixed = np.array(
        [[float(logs.threshold(r.items, r.context, r.at) == item) for item in logs.ITEMS] for r in uniform]
    )
    told = {
        "reward": np.array([row.reward for row in uniform]),
        "action": np.array([logs.ITEMS.index(row.item) for row in uniform]),
        "action_dist": fixed[:, :, None],
        "position": np.zeros(len(uniform), int),
    }
    a = db.replay({"t": logs.threshold}, uniform, estimators="replay").estimate("t")
    b = obp.ReplayMethod().estimate_policy_value(**told)
    found["replay"] = {"ours": [a.value, a.low, a.high], "obp": [float(b)]}
    return {
        "version": "0.4.1",
        "largest_difference": max(abs(x["ours"][0] - x["obp"][0]) for x in found.values()),
        "estimates": found,
    }


if __name__ == "__main__":
    told = compare(sys.argv[1])
    for name, x in told["estimates"].items():
        print(f"{name:<6}", *(f"{who} {' '.join(f'{v:.12f}' for v in x[who])}" for who in ("ours", "obp")))
    print(f"largest difference {told['largest_difference']:.1e}")
