"""bayesianbandits: Thompson sampling with `NormalRegressor`, which forgets nothing unless told; tuned: noise, forgetting, empirical Bayes.

Items that stay: `ContextualAgent`, a learner per arm. Arms with features: `LipschitzContextualAgent`, one learner of all.
"""

import numpy as np

from . import with_constant

PACKAGE = "bayesianbandits"
SETTINGS = [
    {"beta": 1.0, "rate": 1.0, "empirical": False},
    {"beta": 10.0, "rate": 1.0, "empirical": False},
    {"beta": 10.0, "rate": 0.995, "empirical": False},
    {"beta": 1.0, "rate": 0.995, "empirical": True},
]


def refuses(stream):
    return ""


class Bayes:
    def __init__(self, stream, seed, beta, rate, empirical):
        import bayesianbandits as bb

        kind = bb.EmpiricalBayesNormalRegressor if empirical else bb.NormalRegressor
        rule = {} if rate == 1.0 else {"forgetting": bb.StabilizedForgetting(rate)}
        policy, self._items = bb.ThompsonSampling(), stream.items
        if stream.items:
            arms = [bb.Arm(k, learner=kind(alpha=1.0, beta=beta, **rule)) for k in range(stream.n)]
            self._agent = bb.ContextualAgent(arms, policy, random_seed=seed)
        else:
            n, d = stream.n, stream.d + 1

            def features(X, tokens):
                return np.asarray(X).reshape(-1, n, d)[:, tokens].transpose(0, 2, 1)

            self._agent = bb.LipschitzContextualAgent(
                [bb.Arm(k) for k in range(n)],
                policy,
                bb.FunctionArmFeaturizer(features),
                kind(alpha=1.0, beta=beta, **rule),
                random_seed=seed,
            )

    def _context(self, offer):
        return with_constant(offer.context if offer.arms is None else offer.arms).reshape(1, -1)

    def decide(self, offer):
        return self._agent.pull(self._context(offer))[0]

    def learn(self, offer, k, reward, age):
        self._agent.select_for_update(k).update(self._context(offer), np.array([reward]))


make = Bayes
