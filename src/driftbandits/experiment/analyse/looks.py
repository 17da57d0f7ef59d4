"""Colour and line of each strategy: what its entry asks for, or else those of its role."""

from collections import Counter
from collections.abc import Sequence

from ...plots.style import DASHES, ROLE_COLOURS
from ...zoo.record import RECORDS
from ...zoo.roles import Role, role_of
from ..spec.experiment import Strategy

EPISODIC = "weight_ucrl"  # of this and mnl_weight_ucrl: without γ they adapt it


def looks(strategies: Sequence[Strategy]) -> dict[str, tuple[str, str]]:
    """By name: a colour ("" where the role is not known) and a line.

    Strategies of one role take its colours one after another. When these are used up, they begin again with the next kind of line.
    """
    asked = {(role, s.colour) for s in strategies if s.colour and (role := _role(s))}
    given: Counter[Role] = Counter()
    found = {}
    for s in strategies:
        role = _role(s)
        found[s.name] = (s.colour, s.line)
        if s.colour or role is None:
            continue
        free = [c for c in ROLE_COLOURS[role] if (role, c) not in asked] or ROLE_COLOURS[role]
        again, position = divmod(given[role], len(free))
        given[role] += 1
        lines = tuple(DASHES)
        found[s.name] = (free[position], s.line if s.line != lines[0] else lines[again % len(lines)])
    return found


def _role(s: Strategy) -> Role | None:
    use = s.call.use
    if use not in RECORDS:
        return None
    return "tuning-free" if use.endswith(EPISODIC) and "gamma" not in s.call.args else role_of(use)
