"""The pictures of docs/mdp.md, made by the page's own code: the section that goes from nothing to a regret curve."""

import pathlib
import re
from typing import Any

from driftbandits.experiment.study import Cells, Report, study

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "mdp.md"


def blocks() -> list[str]:
    """The Python of the section: the curve, a learner of one's own, pictures."""
    section = PAGE.read_text().partition("## From nothing to a regret curve")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@study(tiny={"most_episodes": 3})
def mdp_page(cells: Cells, *, most_episodes: int = 10**6) -> Report:
    """The pictures of the page on MDPs, drawn by the code that it shows.

    No cells: a figure is no plain data. The only numbers of three digits and more in that code are numbers of episodes.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {}
    with plt.rc_context({"figure.figsize": (6.4, 3.6), "figure.constrained_layout.use": True}):
        for code in blocks():
            exec(re.sub(r"\b\d{3,}\b", lambda m: str(min(int(m[0]), most_episodes)), code), names)
            if "own" in names and "regret" not in names:  # the second block has added its curve to that of the first
                plt.legend()
                names["regret"] = plt.gcf()
    shown = {
        "own_regret": (names["regret"], 110),
        "own_plan": (names["plan"], 80),
        "own_policy": (names["changes"], 90),
    }
    for figure, dpi in shown.values():
        figure.set_dpi(dpi)
    plt.close("all")
    return Report({"page": PAGE.name}, {f"images/mdp_{name}.png": figure for name, (figure, _) in shown.items()})
