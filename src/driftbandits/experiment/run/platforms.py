"""The platform of a result: the processor, and the versions that decide the last bits of a number.

The same cell gives the same bits wherever these agree. Where they differ, vector widths, fused multiply-adds and
library functions round differently, and results differ in their last digits.
"""

import functools
import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version

from ...errors import DriftBanditsError

Platform = dict[str, str]
VERSIONS = ("numpy", "numba", "llvmlite", "scipy")


class MixedPlatforms(DriftBanditsError, ValueError):
    """Cells of several platforms were combined where only one is allowed."""


class MixedPlatformsWarning(UserWarning):
    """Cells of several platforms are shown together."""


@functools.cache
def this_platform() -> Platform:
    """The platform of this process.

    Examples
    --------
    >>> sorted(this_platform())
    ['code', 'cpu', 'llvmlite', 'numba', 'numpy', 'scipy', 'system']
    """
    interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return {
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        "code": "interpreted" if interpreted else "compiled",
        **{name: version(name) for name in VERSIONS},
    }


def _cpu() -> str:
    """The processor as the compiler sees it: its name, and a digest of the instructions it may use."""
    from llvmlite import binding

    chosen = os.environ.get("NUMBA_CPU_NAME")
    features = os.environ.get("NUMBA_CPU_FEATURES") or ("" if chosen else binding.get_host_cpu_features().flatten())
    return f"{chosen or binding.get_host_cpu_name()} {hashlib.sha256(features.encode()).hexdigest()[:6]}"


def difference(one: Platform, other: Platform) -> str:
    """What differs, in words.

    Examples
    --------
    >>> difference({"cpu": "skylake", "numpy": "2.0"}, {"cpu": "skylake", "numpy": "2.1"})
    'numpy 2.0 and 2.1'
    """
    names = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
    return ", ".join(f"{name} {one.get(name, 'unknown')} and {other.get(name, 'unknown')}" for name in names)


def count(platforms: Iterable[Platform]) -> list[tuple[Platform, int]]:
    """Each platform and how often it occurs, the most frequent first."""
    found = Counter(tuple(sorted(p.items())) for p in platforms)
    return [(dict(items), number) for items, number in found.most_common()]


def mixture(platforms: Iterable[Platform]) -> str | None:
    """One line if the platforms are not all the same."""
    counted = count(platforms)
    if len(counted) < 2:
        return None
    total = sum(number for _, number in counted)
    return (
        f"{total - counted[0][1]} of {total} cells were computed on another platform "
        f"({difference(counted[0][0], counted[1][0])}): their last digits may differ"
    )
