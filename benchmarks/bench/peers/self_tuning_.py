"""Ours, vectors in and an index out: `zoo.self_tuning(reward=…)` through `Agent`, nothing else set."""

import driftbandits as db

PACKAGE = "driftbandits"
SETTINGS = [{}]


def refuses(stream):
    return ""


class Ours:
    def __init__(self, stream, seed):
        kind = "click" if stream.clicks else "value"
        strategy = db.zoo.self_tuning(reward=kind, features="disjoint" if stream.items else "shared")
        items = {"items": stream.n} if stream.items else {}
        self._agent = db.Agent(strategy, dim=stream.d, seed=seed, compile="now", **items)

    def decide(self, offer):
        return self._agent.select(offer.context if offer.arms is None else offer.arms)

    def learn(self, offer, k, reward, age):
        if not age:
            self._agent.update(reward)
        elif offer.arms is None:
            self._agent.update(reward, x=offer.context, item=k, age=age)
        else:
            self._agent.update(reward, x=offer.arms[k], age=age)


make = Ours
