"""Suggestions for words that were misspelt."""

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The known word that resembles this one most, or nothing if none does."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint for the end of a message, or nothing.

    Examples
    --------
    >>> did_you_mean("lb_wieght_ucb", ["oful", "lb_weight_ucb"])
    "; did you mean 'lb_weight_ucb'?"
    """
    close = closest(word, known)
    return f"; did you mean '{close}'?" if close else ""
