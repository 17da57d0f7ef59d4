"""Logs: the item shown, its propensity and its reward. The rewards of other items are unknown, so a log cannot be used as a world."""

import os
import pathlib
from typing import Any, Literal

from ..errors import CannotRead, InvalidValue
from .found import find_in_package

Policy = Literal["random", "bts"]
Campaign = Literal["all", "men", "women"]
RENAMED = {"timestamp": "time", "item_id": "item", "click": "reward", "propensity_score": "propensity"}
NEEDED = tuple(RENAMED)


def open_bandit(
    file: "str | os.PathLike[str] | None" = None,
    *,
    policy: Policy = "random",
    campaign: Campaign = "all",
    affinity: bool = False,
) -> Any:
    """The Open Bandit data (Saito et al. 2020): fashion shown on ZOZOTOWN, uniformly at random or by Thompson sampling ("bts").

    An Arrow table in order of time, with the columns time, item, position, reward (1: clicked), propensity and the context's. By default
    the sample of 10 000 rows that ships with the package obp, which is not imported.

    Parameters
    ----------
    file
        A CSV of the full data instead, e.g. "open_bandit_dataset/random/all/all.csv" from research.zozo.com/data.html.
    affinity
        Keep the columns ``user-item_affinity_…``, one per item.

    >>> import driftbandits as db
    >>> log = db.datasets.open_bandit()                                    # doctest: +SKIP
    >>> columns = {"time": "time", "propensity": "propensity"}
    >>> db.Bandit(reward="click").fit(log, item="item", reward="reward", **columns)  # doctest: +SKIP
    """
    if policy not in ("random", "bts") or campaign not in ("all", "men", "women"):
        raise InvalidValue(
            f"policy = {policy!r}, campaign = {campaign!r}: policy must be 'random' or 'bts', campaign 'all', 'men' or 'women'"
        )
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv
    except ImportError:
        raise CannotRead("open_bandit needs pyarrow: pip install 'driftbandits[frames]'") from None
    path = _find(file, policy, campaign)
    try:
        table = csv.read_csv(path)
    except (pa.ArrowInvalid, OSError) as problem:
        raise CannotRead(f"{path}: {str(problem).splitlines()[0]}") from None
    for column in NEEDED:
        if column not in table.column_names:
            raise CannotRead(f"{path}: no column {column!r}; this is no file of the Open Bandit data")
    kept = [c for c in table.column_names if c and (affinity or not c.startswith("user-item_affinity"))]
    table = table.select(kept).rename_columns([RENAMED.get(c, c) for c in kept])
    item = table.column_names.index("item")
    table = table.set_column(item, "item", pc.cast(table["item"], pa.string()))
    return table.take(pc.sort_indices(table, sort_keys=[("time", "ascending")]))


def _find(file: "str | os.PathLike[str] | None", policy: str, campaign: str) -> pathlib.Path:
    if file is None:
        return find_in_package("the Open Bandit sample", "obp", f"dataset/obd/{policy}/{campaign}/{campaign}.csv")
    path = pathlib.Path(file).expanduser()
    if not path.is_file():
        raise CannotRead(
            f"open_bandit: there is no file {str(path)!r}; get it from research.zozo.com/data.html, or leave file out"
        )
    return path


__all__ = ["open_bandit"]
