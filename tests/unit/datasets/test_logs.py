"""The Open Bandit data: a small file of its format."""

import sys

import pytest

import driftbandits as db

LOG = """,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2019-11-24 00:00:53+00:00,14,3,0,0.0125,81ce,0.0
1,2019-11-24 00:00:34+00:00,7,1,1,0.0125,03a5,1.0
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package `obp` that must not be imported."""
    place = tmp_path / "obp" / "dataset" / "obd" / "random" / "all"
    place.mkdir(parents=True)
    (tmp_path / "obp" / "__init__.py").write_text("raise RuntimeError('imported')")
    (place / "all.csv").write_text(LOG)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "obp", raising=False)
    return place / "all.csv"


def test_the_sample_of_the_installed_package(package):
    log = db.datasets.open_bandit()
    assert log.column_names == ["time", "item", "position", "reward", "propensity", "user_feature_0"]
    assert log["item"].to_pylist() == ["7", "14"]
    assert "user-item_affinity_0" in db.datasets.open_bandit(affinity=True).column_names
    bandit = db.Bandit(reward="click").fit(log, item="item", reward="reward", time="time", propensity="propensity")
    assert bandit.info()["observed"] == 2


def test_what_is_refused(package, tmp_path, monkeypatch):
    with pytest.raises(db.DriftBanditsError, match="policy = 'best'"):
        db.datasets.open_bandit(policy="best")
    with pytest.raises(db.DriftBanditsError, match=r"there is no file 'nowhere\.csv'"):
        db.datasets.open_bandit("nowhere.csv")
    with pytest.raises(db.DriftBanditsError, match="pip install --no-deps obp"):
        db.datasets.open_bandit(campaign="men")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(db.DriftBanditsError, match="no column 'timestamp'"):
        db.datasets.open_bandit(tmp_path / "other.csv")
