"""`driftbandits fit`, as users call it."""

import json

import pytest

import driftbandits as db
import logs
from command_line import call, refused

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]
COLUMNS = ("--item", "item", "--reward", "r", "--time", "at", "--context", "x", "--features", "item")


@pytest.fixture
def files(tmp_path):
    frame = logs.frame(30, 0).assign(key=range(30))
    for k, part in enumerate((frame[:20], frame[20:])):
        part.to_csv(tmp_path / f"{k}.csv", index=False)
    return str(tmp_path)


def test_it_writes_a_bandit_that_decides(files, tmp_path):
    target = tmp_path / "shop.bandit"
    text = call("fit", files, *COLUMNS, "--propensity", "p", "--id", "key", "--out", str(target))
    assert "30 rows learned" in text
    assert text.splitlines()[-1] == f"bandit   {target}"
    assert db.Bandit.load(target).info()["observed"] == 30


def test_by_sums_and_on_dask(files, tmp_path):
    target = str(tmp_path / "shop.bandit")
    told = json.loads(call("fit", files, *COLUMNS, "--sums", "--tail", "2", "--out", target, "--json"))
    assert told["fit"] == {"rows": 30, "repeated": 0, "exact_from": 28}
    assert call("fit", files, *COLUMNS, "--scheduler", "synchronous", "--tail", "2", "--out", target, "--quiet") == ""
    assert db.Bandit.load(target).info()["fit"]["exact_from"] == 28


def test_what_goes_wrong_is_one_line(files, tmp_path):
    out = ("--out", str(tmp_path / "b"))
    assert "no column 'nope'" in refused("fit", files, "--item", "nope", "--reward", "r", *out)
    assert "is not there" in refused("fit", files, *COLUMNS, "--out", str(tmp_path / "no" / "b"))
    assert "is not there" in refused("fit", str(tmp_path / "none.csv"), *COLUMNS, *out)
    assert not (tmp_path / "b").exists()


def test_nothing_that_holds_a_log_is_overwritten(files, tmp_path):
    target = tmp_path / "1.csv"
    before = target.read_bytes()
    for log in (files, str(target), str(tmp_path / "*.csv")):
        assert "is part of the log" in refused("fit", log, *COLUMNS, "--out", str(target))
    assert target.read_bytes() == before
    assert "is a folder" in refused("fit", files, *COLUMNS, "--out", files)
    with db.Bandit.open(tmp_path / "live.bandit"):
        pass
    assert "is a durable bandit" in refused("fit", files, *COLUMNS, "--out", str(tmp_path / "live.bandit"))
