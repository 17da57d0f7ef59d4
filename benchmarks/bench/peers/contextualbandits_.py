"""contextualbandits: `online.LinUCB`; its docstring advises `beta_prior`, a smaller alpha and a larger lambda_."""

import numpy as np

PACKAGE = "contextualbandits"
ADVISED = {"ucb_from_empty": False, "beta_prior": "auto"}
SETTINGS = [
    {},
    {"alpha": 0.25, **ADVISED},
    {"alpha": 0.1, "lambda_": 10.0, **ADVISED},
    {"ts": True},
]


def refuses(stream):
    return "" if stream.items else "has no features per arm"


class Online:
    def __init__(self, stream, seed, ts=False, **setting):
        from contextualbandits.online import LinTS, LinUCB

        kind = LinTS if ts else LinUCB
        self._policy = kind(nchoices=stream.n, method="sm", random_state=seed + 1, **setting)
        self._n, self._fitted = stream.n, False
        self._rng = np.random.default_rng(seed)

    def decide(self, offer):
        if not self._fitted:  # it must be fitted before it predicts
            return int(self._rng.integers(self._n))
        return int(self._policy.predict(offer.context[None, :])[0])

    def learn(self, offer, k, reward, age):
        self._policy.partial_fit(offer.context[None, :], np.array([k]), np.array([reward]))
        self._fitted = True


make = Online
