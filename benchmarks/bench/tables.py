"""What all tables of the page share: names of learners, and Markdown."""

LABELS = {
    "bandit": "`Bandit`",
    "bandit_explore_0": "`Bandit(explore=0)`",
    "self_tuning": "`self_tuning`",
    "numpy": "LinUCB in NumPy",
}


def label(name):
    return LABELS.get(name, name)


def table(head, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows]) + "\n"
