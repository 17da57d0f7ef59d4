"""Ours, as in production: `db.Bandit(reward=…)`, nothing else set."""

from collections import deque

import driftbandits as db

PACKAGE = "driftbandits"
SETTINGS = [{}]


def refuses(stream):
    return ""


class Ours:
    def __init__(self, stream, seed, **options):
        self._bandit = db.Bandit(reward="click" if stream.clicks else "value", seed=seed, **options)
        self._items = [f"item {k}" for k in range(stream.n)]
        self._ids = deque()

    def decide(self, offer):
        if offer.arms is None:
            d = self._bandit.decide(self._items, offer.context)
            k = self._items.index(d.item)
        elif offer.names is None:
            d = self._bandit.decide(offer.arms)
            k = int(d.item)
        else:
            names = offer.names.tolist()
            d = self._bandit.decide(dict(zip(names, offer.arms, strict=True)))
            k = names.index(d.item)
        self._ids.append(d.id)
        return k

    def learn(self, offer, k, reward, age):
        self._bandit.reward(self._ids.popleft(), reward)


make = Ours
