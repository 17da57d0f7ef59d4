"""Tables in Markdown, and numbers in them."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A table in Markdown.

    Examples
    --------
    >>> print(table(["x", "|x|"], [["-1", "1"]]), end="")
    | x | \|x\| |
    |---|---|
    | -1 | 1 |
    """
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in (head, *rows)]
    return "".join([text[0], "|---" * len(head) + "|\n", *text[1:]])


def few(value: float) -> str:
    """A regret, with a digit more where it is small."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
