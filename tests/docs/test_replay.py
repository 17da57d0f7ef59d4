"""The examples of docs/replay.md run, one after the other, on a log with the columns they name."""

import pathlib
import re

import numpy as np
import pandas as pd

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "replay.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
BANNERS = ["bags", "coats", "hats", "shoes"]


def write_log(path, rows=130):
    rng = np.random.default_rng(0)
    at = pd.Timestamp("2024-05-01") + pd.to_timedelta(np.arange(rows) * 0.02, unit="D")
    pd.DataFrame(
        {
            "banner": rng.choice(BANNERS, rows),
            "clicked": rng.integers(2, size=rows),
            "p": 0.25,
            "shown_at": at,
            "offered": [BANNERS] * rows,
            "age": rng.integers(18, 70, rows),
            "country": rng.choice(["se", "no"], rows),
            "clicked_at": at + pd.Timedelta(minutes=40),
        }
    ).to_parquet(path)


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_log("log.parquet")
    names: dict = {}
    for code in EXAMPLES:
        exec(code, names)
    assert len(EXAMPLES) == 3
    assert "always shoes" in capsys.readouterr().out
    assert set(names["result"].policies) == {"adaptive", "two days", "always shoes"}
    assert set(names["found"].best) == {"half_life", "features"}
    assert names["bandit"].info()["decisions"] == 0
