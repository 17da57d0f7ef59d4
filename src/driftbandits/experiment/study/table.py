"""Tables in Markdown."""

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
