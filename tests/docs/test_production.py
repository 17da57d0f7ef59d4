"""The page "Deciding in production": its code runs as it stands."""

import datetime
import pathlib
import re
import sqlite3

import pandas as pd
import pytest

import driftbandits as db

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "production.md"
HOURS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i) for i in range(30)]
LOG = {"banner": ["a", "b", "c"] * 10, "clicked": [0, 1, 0] * 10, "shown_at": HOURS, "age": [*range(30)]}


@pytest.mark.interpreted
def test_every_block_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    shown, logged = [], []
    names = {"show": shown.append, "log": logged.append, "frame": pd.DataFrame(LOG)}
    exec(blocks[0], names)
    assert shown[0] in ("a", "b")
    assert logged[0]["item"] == shown[0]
    exec(blocks[1], names)
    assert names["bandit"].info()["observed"] == 30
    names["frame"] = pd.DataFrame({"age": [1.0, 2.0]})
    decide, reward = blocks[2].splitlines()
    exec(decide, names)
    names["answers"] = names["out"][["id"]].assign(reward=1)
    exec(reward, names)
    assert names["bandit"].info()["rewards"] == 2
    exec(blocks[3], names)
    with db.Bandit.open("shop.bandit", reward="click") as learner:
        exec(blocks[4].replace("decide(...)", "decide(['a', 'b'])"), names)
        names["fast"].close()
        assert learner.info()["rewards"] == 1
        (query,) = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
        file = sqlite3.connect("shop.bandit")
        assert [row[1:] for row in file.execute(query)] == [(1, 1.0)]
        file.close()
