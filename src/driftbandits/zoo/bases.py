"""What a wrapper may wrap: refused when it is made, in one line, not in the first round."""

from typing import Any

from ..errors import InvalidValue
from ..mdp.protocol import open_book, settle_in
from ..protocol import act


def bandit_base(base: Any, wrapper: str) -> Any:
    """A strategy for bandits, or refuse."""
    if act.knows(type(base)):
        return base
    hint = "; learners of MDPs play in db.simulate_mdp" if _plans(base) else _called(base)
    raise InvalidValue(
        f"base = {base!r:.60} is not allowed; {wrapper} wraps a bandit strategy, such as zoo.oful(…){hint}"
    )


def planner_base(base: Any, wrapper: str) -> Any:
    """A learner of episodic MDPs, or refuse."""
    if _plans(base):
        return base
    hint = "; bandit strategies play in db.simulate" if act.knows(type(base)) else _called(base)
    raise InvalidValue(
        f"base = {base!r:.60} is not allowed; {wrapper} wraps a learner of MDPs, such as zoo.ucrl_vtr(){hint}"
    )


def any_base(base: Any, wrapper: str) -> Any:
    """Either, or refuse."""
    return base if _plans(base) else bandit_base(base, wrapper)


def _plans(base: Any) -> bool:
    return settle_in.knows(type(base)) or open_book.knows(type(base))


def _called(base: Any) -> str:
    name = getattr(base, "__name__", "")
    return f"; call it: {name}(…)" if name else ""
