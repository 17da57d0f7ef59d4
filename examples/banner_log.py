"""Make the log of docs/replay.md: `python examples/banner_log.py`.

6000 decisions between four banners, of which the best changes on 11 and on 22 May.
"""

import numpy as np
import pandas as pd

BANNERS = ("shoes", "hats", "coats", "socks")
CHANCE = np.array([0.4, 0.2, 0.2, 0.2])  # with which whoever decided chose each


def log(rows=6000, days=31.0, seed=7):
    """One row per decision: when, what, with what probability, what came of it, and who asked."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2024-05-01").timestamp()
    at = np.sort(start + rng.uniform(0.0, 86400.0 * days, rows))
    day = (at - start) / 86400.0
    best = np.select([day < 10, day < 21], [0, 2], 1)
    shown = rng.choice(4, size=rows, p=CHANCE)
    clicked = rng.random(rows) < np.where(shown == best, 0.30, 0.08)
    return pd.DataFrame(
        {
            "shown_at": pd.to_datetime(at, unit="s", utc=True),
            "banner": [BANNERS[k] for k in shown],
            "p": CHANCE[shown],
            "clicked": clicked.astype(int),
            "age": rng.integers(18, 70, rows),
            "country": rng.choice(["se", "de", "fr"], rows),
        }
    )


if __name__ == "__main__":
    log().to_parquet("log.parquet")
    print("log.parquet")
