"""The same log by the peers' fastest ways to learn one, each alone in what it does well; measured by `bench_bulk` in its own run.

Vowpal Wabbit reads a text file in its own format (`--cb`, a cost for the item chosen), which is written before the clock starts;
bayesianbandits updates the model of each item once, with all of its rows; river learns row by row, which is the only way it has. None of
them keeps several memories or tests for change: they are here to tell what reading and one regression cost.
"""

import importlib.util
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

PEERS = ("vowpalwabbit", "river", "bayesianbandits")


def job(name: str, frame: pd.DataFrame, context: list[str], folder: pathlib.Path) -> Callable[[], Any] | None:
    """What a peer has to do; None if it is not installed here."""
    if importlib.util.find_spec(name) is None:
        return None
    makers = {"vowpalwabbit": _vowpal_wabbit, "river": _river, "bayesianbandits": _bayesianbandits}
    return makers[name](frame, context, folder)


def _vowpal_wabbit(frame: pd.DataFrame, context: list[str], folder: pathlib.Path) -> Callable[[], Any]:
    from vowpalwabbit import pyvw

    names = sorted(frame["item"].unique())
    place = {name: k for k, name in enumerate(names, start=1)}
    numbers, words = (
        [c for c in context if frame[c].dtype.kind == "f"],
        [c for c in context if frame[c].dtype.kind != "f"],
    )
    columns = [frame[name].tolist() for name in (*numbers, *words)]
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".vw", delete=False) as file:
        rows = zip(frame["item"], frame["reward"], frame["p"], *columns, strict=True)
        for item, reward, p, *values in rows:
            said = [f"{name}:{x:.9g}" for name, x in zip(numbers, values, strict=False)]
            said += [f"{name}={x}" for name, x in zip(words, values[len(numbers) :], strict=True)]
            file.write(f"{place[item]}:{-reward}:{p} | {' '.join(said)}\n")

    def learn() -> None:
        pyvw.Workspace(f"--cb {len(names)} --cb_type ips -d {file.name} --quiet").finish()

    return learn


def _river(frame: pd.DataFrame, context: list[str], _: pathlib.Path) -> Callable[[], Any]:
    from river import linear_model

    coded = pd.get_dummies(frame[context], dtype=float)
    rows = coded.to_dict("records")
    items, rewards = frame["item"].tolist(), frame["reward"].tolist()

    def learn() -> None:
        models = {item: linear_model.BayesianLinearRegression() for item in dict.fromkeys(items)}
        for item, x, r in zip(items, rows, rewards, strict=True):
            models[item].learn_one(x, r)

    return learn


def _bayesianbandits(frame: pd.DataFrame, context: list[str], _: pathlib.Path) -> Callable[[], Any]:
    import bayesianbandits as bb

    def learn() -> None:
        X = np.c_[np.ones(len(frame)), pd.get_dummies(frame[context], dtype=float).to_numpy()]
        items, r = pd.factorize(frame["item"])[0], frame["reward"].to_numpy(float)
        for k in range(items.max() + 1):
            model = bb.NormalRegressor(alpha=1.0, beta=1.0)
            model.partial_fit(X[items == k], r[items == k])

    return learn
