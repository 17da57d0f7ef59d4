"""`Bandit` in files: saved whole, durable, followed by other processes, copied and pickled."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from ..errors import InvalidState, said
from .arguments import Code, Durability, FeatureMap, Path
from .challenged import Challenged
from .events import DriftEvent

if TYPE_CHECKING:
    from .bandit import Bandit


class Filed(Challenged):
    """A bandit that is saved and opened."""

    def save(self, path: Path) -> None:
        """Write one file of arrays and JSON, whole or not at all."""
        from .saving import save

        this: Any = self
        with self._turn():
            save(this, path)

    def backup(self, path: Path) -> None:
        """Write a consistent copy of a durable bandit to another file, whole or not at all, while it is in use."""
        raise InvalidState(f"this bandit is in memory, and has no file to copy to {said(path)}; save(path) writes one")

    def _whole(self) -> Any:
        """Many calls, or none: what goes wrong in one undoes all."""
        from .saving import undone_together

        this: Any = self
        return undone_together(this)

    def __reduce__(self) -> Any:
        """Copied and pickled as it is saved; functions (features, on_drift) must be picklable themselves."""
        from .saving import copied, to_bytes

        this: Any = self
        with self._turn():
            strategy = getattr(self._learner, "strategy", None)
            return copied, (to_bytes(this), self._function, strategy, self._on_drift)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        features: FeatureMap | None = None,
        strategy: Any = None,
        on_drift: Callable[[DriftEvent], Any] | None = None,
    ) -> "Bandit":
        """The bandit that was saved; a function of features must be given again: files hold no code. A strategy is in the file."""
        from .saving import load

        return load(path, features, strategy, on_drift)

    @classmethod
    def open(cls, path: Path, **settings: Unpack[Durability]) -> "Bandit":
        """A durable bandit in one SQLite file, made if it is not there; see docs/production.md.

        `settings` are those of `Bandit`; `sync`: "normal" (survives the death of the process) or "full" (and a power cut); and `start`: a
        bandit, or a file of `save`, whose knowledge a file that is made now begins with.
        """
        from .opening import open_durable

        return open_durable(path, dict(settings))

    @classmethod
    def follow(cls, path: Path, *, refresh: float = 5.0, **code: Unpack[Code]) -> "Bandit":
        """Decide in another process with the latest snapshot of `open`, looked for every `refresh` seconds."""
        from .follower import open_follower

        return open_follower(path, refresh, dict(code))
