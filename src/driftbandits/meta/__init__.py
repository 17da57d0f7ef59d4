"""What if nobody knows how fast the world changes? Strategies made of strategies."""

from .adaptive import Adaptive
from .bob import Bob
from .exp3ix import Exp3IX
from .master import Master

__all__ = ["Adaptive", "Bob", "Exp3IX", "Master"]
