"""A model of two items with features that compiled entries are called with."""

from unittest import mock

import driftbandits as db


def model():
    """The arrays of a bandit that has learned six rewards, of categories with more levels than have columns."""
    bandit = db.Bandit(features="hybrid", seed=0)
    with mock.patch("driftbandits.bandit.adaptive.OWN_SLOTS", 1):
        for t in range(6):
            offer = {"a": {"x": float(t), "brand": f"b{t % 2}"}, "b": {"x": 1.0, "brand": "b0"}}
            d = bandit.decide(offer, {"c": float(t % 3), "user": f"u{t}"})
            bandit.reward(d.id, float(t % 2))
    return bandit._learner.model


def with_part(model, part, **arrays):
    """The same model with other arrays in one part of its engine."""
    engine = model.engine
    return model._replace(engine=engine._replace(**{part: getattr(engine, part)._replace(**arrays)}))
