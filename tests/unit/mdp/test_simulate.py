"""The loop over episodes: what it refuses, and what its clock counts."""

import pytest

import driftbandits as db
from driftbandits.mdp import simulate

WORLD = db.mdp.riverswim(episodes=3, horizon=3)
PAID = db.mdp.tabular(6, 2, known_rewards=[[3.0] * 2] * 6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.simulate_mdp(db.zoo.weight_ucrl(), "river"), "mdp = 'river' is no world"),
        (lambda: db.simulate_mdp(db.zoo.weight_ucrl(), WORLD, features=(6, 2)), r"features = \(6, 2\)"),
        (lambda: db.simulate_mdp(db.zoo.weight_ucrl(), WORLD, features=db.mdp.tabular(5, 2)), "does not fit"),
        (lambda: db.simulate_mdp(db.zoo.weight_ucrl(), WORLD, features=PAID), r"known_rewards span \[3, 3\]"),
        (lambda: db.simulate_mdp(db.zoo.weight_ucrl, WORLD), r"call it: weight_ucrl\(\)"),
        (lambda: db.mdp.trials_mdp(db.zoo.weight_ucrl(), WORLD, trials=1), "lambda trial: world"),
        (lambda: db.mdp.trials_mdp(db.zoo.weight_ucrl(), lambda _: WORLD, trials=1, jobs=0), "jobs = 0"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        make()


@pytest.mark.interpreted
def test_seconds_do_not_contain_compilation(monkeypatch):
    """A clock that only the compiler moves on."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    class Compiled:
        def direct(self, *given):
            clock.now += 1000.0
            return simulate_episodes.direct(*given)

    clock, simulate_episodes = Clock(), simulate._episodes
    monkeypatch.setattr(simulate, "time", clock)
    monkeypatch.setattr(simulate, "_episodes", Compiled())
    assert db.simulate_mdp(db.zoo.weight_ucrl(), WORLD).seconds == 0.0
    assert clock.now == 1000.0
