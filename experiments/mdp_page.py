"""The pictures of docs/mdp.md, made by the page's own code.

python experiments/mdp_page.py     # half a minute; docs/images/mdp_own_*.png
"""

import pathlib
import re

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"


def blocks() -> list[str]:
    """The Python of the section that goes from nothing to a regret curve: the curve, a learner of one's own, pictures."""
    page = (DOCS / "mdp.md").read_text()
    section = page.partition("### From nothing to a regret curve")[2].partition("\n### ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def main() -> None:
    """Run the blocks one after the other, as a reader would, and keep what they draw."""
    plt.rcParams |= {"figure.figsize": (6.4, 3.6), "figure.constrained_layout.use": True}
    names: dict[str, object] = {}
    curve, learner, pictures = blocks()
    exec(curve, names)
    exec(learner, names)
    plt.legend()
    plt.savefig(DOCS / "images" / "mdp_own_regret.png", dpi=110)
    exec(pictures, names)
    names["plan"].savefig(DOCS / "images" / "mdp_own_plan.png", dpi=80)
    names["changes"].savefig(DOCS / "images" / "mdp_own_policy.png", dpi=90)


if __name__ == "__main__":
    main()
