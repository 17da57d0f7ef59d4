"""One curve on matplotlib axes, for `run.plot()`; several runs may share the axes."""

from typing import Any

from ..errors import InvalidValue
from .style import ORDER, PALETTE


def draw_regret(x: Any, regret: Any, time: str, ax: Any, label: str | None) -> Any:
    """Draw a regret curve on the given axes, or on new ones; returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InvalidValue("plot needs matplotlib; install driftbandits[command]") from None
    axes = plt.subplots()[1] if ax is None else ax
    colour = PALETTE[ORDER[len(axes.lines) % len(ORDER)]]
    axes.plot(x, regret, color=colour, label=label)
    axes.set(xlabel=time, ylabel="regret")
    if label is not None:
        axes.legend(frameon=False)
    return axes
