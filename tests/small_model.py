"""A model of two items with features that compiled entries are called with."""

import driftbandits as db


def model():
    """The arrays of a bandit that has learned six rewards."""
    bandit = db.Bandit(features="hybrid", seed=0)
    for t in range(6):
        d = bandit.decide({"a": {"x": float(t)}, "b": {"x": 1.0}}, {"c": float(t % 3)})
        bandit.reward(d.id, float(t % 2))
    return bandit._learner.model


def with_part(model, part, **arrays):
    """The same model with other arrays in one part of its engine."""
    engine = model.engine
    return model._replace(engine=engine._replace(**{part: getattr(engine, part)._replace(**arrays)}))
