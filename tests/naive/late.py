"""Rewards that come late, or weigh more or less than one: what each observation counts, from the definitions of the memories.

An observation of round s ≤ t counts weight·w_{t,s}, whenever its reward came. Nothing here is recursive.
"""

import numpy as np


def weight_of_round(memory, t, s):
    """w_{t,s}: what round s counts after t rounds, for the decision of round t + 1."""
    kind = memory[0]
    if kind == "everything":
        return 1.0
    if kind == "discounted":
        return float(memory[1]) ** (t - s)
    if kind == "window":  # the last W rounds
        return float(s > t - memory[1])
    if kind == "restart":  # rounds 1..H, H+1..2H, … are epochs; round t + 1 knows its own
        return float((s - 1) // memory[1] == t // memory[1])
    raise ValueError(f"unknown memory {memory!r}")


def late_weights(memory, t, rounds, weight):
    """The weights of observations made in `rounds`, after t rounds."""
    return np.array([w * weight_of_round(memory, t, s) for s, w in zip(rounds, weight, strict=True)])
