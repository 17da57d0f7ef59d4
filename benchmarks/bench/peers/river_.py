"""river: `bandit.LinUCBDisjoint` for items; for arms with features, which its policies do not have, the same rule (μ + σ of
`linear_model.BayesianLinearRegression`) on one model. `smoothing` is its way to forget."""

import random

PACKAGE = "river"
SETTINGS = [
    {"beta": 1.0, "smoothing": None},
    {"beta": 10.0, "smoothing": None},
    {"beta": 100.0, "smoothing": None},
    {"beta": 10.0, "smoothing": 0.995},
]


def refuses(stream):
    return ""


class Disjoint:
    def __init__(self, stream, seed, beta, smoothing):
        from river import bandit

        self._policy = bandit.LinUCBDisjoint(beta=beta, smoothing=smoothing, seed=seed)
        self._items = list(range(stream.n))

    def decide(self, offer):
        return self._policy.pull(self._items, context=row(offer.context))

    def learn(self, offer, k, reward, age):
        self._policy.update(k, row(offer.context), reward)


class Shared:
    def __init__(self, stream, seed, beta, smoothing):
        from river import linear_model

        self._model = linear_model.BayesianLinearRegression(beta=beta, smoothing=smoothing)
        self._rng = random.Random(seed)

    def decide(self, offer):
        told = [self._model.predict_one(row(x), with_dist=True) for x in offer.arms]
        bounds = [p.mu + p.sigma for p in told]
        best = max(bounds)
        return self._rng.choice([k for k, b in enumerate(bounds) if b == best])

    def learn(self, offer, k, reward, age):
        self._model.learn_one(row(offer.arms[k]), reward)


def row(x):
    return {"1": 1.0, **dict(enumerate(x.tolist()))}


def make(stream, seed, **setting):
    return (Disjoint if stream.items else Shared)(stream, seed, **setting)
