"""coba: `LinUCBLearner` (its own; its others wrap Vowpal Wabbit), features (1, a, ax) with items as one-hot actions, or (1, a) for arms."""

PACKAGE = "coba"
SETTINGS = [{"alpha": 1.0}, {"alpha": 0.3}, {"alpha": 0.1}, {"ts": True, "alpha": 1.0}]


def refuses(stream):
    return ""


class Coba:
    def __init__(self, stream, seed, alpha, ts=False):
        from coba.learners import LinTSLearner, LinUCBLearner

        features = [1, "a", "ax"] if stream.items else [1, "a"]
        if ts:
            self._learner = LinTSLearner(v=alpha, features=features, seed=seed)
        else:
            self._learner = LinUCBLearner(alpha=alpha, features=features, seed=seed)
        self._actions = [tuple(float(i == k) for i in range(stream.n)) for k in range(stream.n)]

    def _given(self, offer):
        if offer.arms is None:
            return offer.context.tolist(), self._actions
        return None, [tuple(x) for x in offer.arms.tolist()]

    def decide(self, offer):
        context, actions = self._given(offer)
        return actions.index(self._learner.predict(context, actions)[0])

    def learn(self, offer, k, reward, age):
        context, actions = self._given(offer)
        self._learner.learn(context, actions[k], reward, 1.0)


make = Coba
