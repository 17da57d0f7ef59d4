"""The page "Deciding in production": its code runs as a stranger would paste it, one block after the other."""

import pathlib
import re
import sqlite3

import pytest

import driftbandits as db

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "production.md"


@pytest.mark.interpreted
def test_every_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    names, counts = {}, []
    for k, block in enumerate(blocks):
        exec(compile(block, "production.md", "exec"), names)
        if k < 3:  # the others are closed
            counts.append((names["bandit"].info()["rewards"], names["bandit"].info()["observed"]))
    assert counts == [(1, 0), (0, 30), (2, 30)]
    assert capsys.readouterr().out.splitlines()[0] in ("a", "b")
    with db.Bandit.open("shop.bandit") as learner:
        assert learner.info()["rewards"] == 2  # one of them a follower's
        (query,) = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
        file = sqlite3.connect("shop.bandit")
        assert sum(many for _, many, _ in file.execute(query)) == 2
        file.close()
