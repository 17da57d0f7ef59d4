"""mabwiser: `MAB(arms, LearningPolicy.LinUCB())`, a ridge regression per arm."""

from . import with_constant

PACKAGE = "mabwiser"
SETTINGS = [
    {"policy": "LinUCB", "alpha": 1.0},
    {"policy": "LinUCB", "alpha": 0.3},
    {"policy": "LinUCB", "alpha": 0.1},
    {"policy": "LinTS", "alpha": 0.3},
]


def refuses(stream):
    return "" if stream.items else "has no features per arm"


class Mab:
    def __init__(self, stream, seed, policy, alpha):
        from mabwiser.mab import MAB, LearningPolicy

        self._mab = MAB(list(range(stream.n)), getattr(LearningPolicy, policy)(alpha=alpha), seed=seed)
        self._n, self._fitted = stream.n, False

    def decide(self, offer):
        if not self._fitted:  # it must be fitted before it predicts: the first round is a round for arm 0
            return 0
        return self._mab.predict([with_constant(offer.context).tolist()])

    def learn(self, offer, k, reward, age):
        learn = self._mab.partial_fit if self._fitted else self._mab.fit
        learn([k], [reward], [with_constant(offer.context).tolist()])
        self._fitted = True


make = Mab
