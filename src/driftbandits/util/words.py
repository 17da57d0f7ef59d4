"""Counts in words."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, in the singular or the plural.

    Examples
    --------
    >>> counted(1, "reward"), counted(2300, "reward"), counted(0, "column")
    ('1 reward', '2,300 rewards', '0 columns')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
