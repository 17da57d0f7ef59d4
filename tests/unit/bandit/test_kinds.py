"""Kinds of rewards: every file of the folder is one, and a new file is all that a new kind needs."""

import typing

import pytest

import driftbandits as db
from driftbandits.bandit import kinds
from driftbandits.bandit.arguments import RewardKind
from driftbandits.bandit.rewards import as_reward
from driftbandits.meta.self_tuning.parts import RANGES
from driftbandits.service.settings import LoopSettings
from driftbandits.zoo import tuning_free

GOOD = {"value": (-2.5, 0.0, 7.0), "click": (0.0, 1.0), "count": (0.0, 3.0), "amount": (0.0, 0.01, 1e6)}
BAD = {"value": (), "click": (0.5, -1.0, 2.0), "count": (0.5, -1.0), "amount": (-0.01,)}
RATING = '''
"""Stars, 1 to 5."""
from driftbandits.bandit.kinds import Kind
KIND = Kind("1, 2, 3, 4 or 5", 1.0, 5.0, lambda r: r in (1, 2, 3, 4, 5))
'''


def test_type_checkers_know_every_kind():
    assert {*typing.get_args(RewardKind)} == {*kinds.KINDS} == {*GOOD}


def test_the_words_of_the_zoo_mean_the_ranges_of_the_bandit():
    """The zoo cannot import the bandit, which is made of it, so its words are compared here. A new kind need not be one of them."""
    for word, (low, high) in zip(tuning_free.REWARDS, RANGES, strict=True):
        kind = kinds.KINDS[word]
        assert (kind.low, kind.high) == (low, high), word


def test_the_service_knows_every_kind():
    assert LoopSettings(reward="amount", features="linear").checked().reward == "amount"


@pytest.mark.parametrize("kind", GOOD)
def test_what_is_a_reward_of_each_kind(kind):
    for r in GOOD[kind]:
        assert as_reward(kind, r) == r
    for r in BAD[kind]:
        with pytest.raises(db.DriftBanditsError, match=f"reward='{kind}'"):
            as_reward(kind, r)


@pytest.mark.parametrize("kind", GOOD)
def test_estimates_lie_where_means_can(kind):
    bandit = db.Bandit(reward=kind)
    for r in GOOD[kind]:
        bandit.observe({"x": r}, reward=r, name="a")
    low, high = kinds.KINDS[kind].low, kinds.KINDS[kind].high
    known = bandit.estimate({"a": {"x": -100.0}, "b": {"x": 100.0}})
    assert all(low <= estimate.mean <= high and estimate.sd > 0.0 for estimate in known.values())


def test_a_new_kind_is_one_file(tmp_path, monkeypatch):
    """The seventh change of CONTRIBUTING, done: a file in the folder, and `Bandit` knows the word."""
    (tmp_path / "rating.py").write_text(RATING)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    for name, kind in kinds.find_kinds().items():
        monkeypatch.setitem(kinds.KINDS, name, kind)
    bandit = db.Bandit(reward="rating")
    d = bandit.decide(["a", "b"])
    bandit.reward(d.id, 4)
    assert 1.0 <= bandit.estimate(["a"])["a"].mean <= 5.0
    with pytest.raises(db.DriftBanditsError, match="1, 2, 3, 4 or 5"):
        bandit.reward(bandit.decide(["a", "b"]).id, 6)
