"""Golden digests: does the library still compute what it computed?

    python tests/digests/run.py                 compare all records with golden.json; exit 1 if any moved
    python tests/digests/run.py --quick         without what takes long in this mode; this is what `make digests` runs
    python tests/digests/run.py zoo bandit/item only records whose names begin so
    python tests/digests/run.py --write [...]   replace the golden records by what is computed now

The file has one line a record and mode ("compiled", "interpreted": a compiled sum is added in another order, so that its last
digits differ); a mode without a line of its own is compared with the other. A record is *equal* if its choices are the same and its
numbers agree to `CLOSE`, relatively: processors with other vector instructions differ in the last digits too. `--exact` asks for the
same bits, for use on one machine.
"""

import argparse
import functools
import json
import math
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract"), str(HERE.parent)]
os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")  # the first call waits for compiled code: no run is part of each

from collect import Digest, Work, works  # noqa: E402

GOLDEN = HERE / "golden.json"
CLOSE = 1e-7
MODE = "compiled" if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") else "interpreted"

Golden = dict[str, dict[str, tuple[str, list[float]]]]  # name → mode → choices, numbers


def read(path: pathlib.Path = GOLDEN) -> Golden:
    """The golden records."""
    return json.loads(path.read_text()) if path.exists() else {}


def write(golden: Golden, path: pathlib.Path = GOLDEN) -> None:
    """One line a record and mode, so that a diff shows which moved."""
    lines = []
    for name in sorted(golden):
        modes = ",\n".join(f"    {json.dumps(mode)}: {json.dumps(golden[name][mode])}" for mode in sorted(golden[name]))
        lines.append(f"  {json.dumps(name, ensure_ascii=False)}: {{\n{modes}\n  }}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def difference(before: tuple[str, list[float]], now: Digest, *, exact: bool = False) -> str:
    """What moved, and by how much; "" if nothing did."""
    old, numbers = before[1], now.numbers
    if len(old) != len(numbers):
        return f"{len(old)} numbers were kept, {len(numbers)} are computed"
    gaps = [abs(a - b) / max(abs(a), abs(b), 1e-300) if a != b else 0.0 for a, b in zip(old, numbers, strict=True)]
    gaps = [math.inf if math.isnan(gap) else gap for gap in gaps]
    worst = max(gaps, default=0.0)
    at = gaps.index(worst) if gaps else 0
    told = f"{old[at]!r} → {numbers[at]!r} (relative {worst:.1e})" if worst else "numbers equal"
    if before[0] != now.choices:
        return f"choices differ; {told}"
    return f"choices equal; {told}" if worst > (0.0 if exact else CLOSE) else ""


def main(arguments: list[str] | None = None) -> int:
    """Compare or write; the exit code says whether anything moved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the records to compute; all if none is given")
    parser.add_argument("--write", action="store_true", help="replace the golden records")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long without the compiler")
    parser.add_argument("--exact", action="store_true", help="ask for the same bits")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes compute the records")
    parser.add_argument("--times", action="store_true", help="print how many seconds of CPU time each record took")
    given = parser.parse_args(arguments)
    golden, moved, count = read(), 0, 0
    every = list(works())
    wanted = [work.name for work in every if _wanted(work, given)]
    for name, now, seconds in _computed(wanted, given.jobs):
        count += 1
        if given.times:
            print(f"{seconds:7.2f} s  {name}", flush=True)
        if given.write:
            golden.setdefault(name, {})[MODE] = (now.choices, list(now.numbers))
        elif (before := _kept(golden, name)) is None:
            moved += 1
            print(f"new: {name} has no golden record ({MODE})")
        elif told := difference(before, now, exact=given.exact):
            moved += 1
            print(f"moved: {name} ({MODE}): {told}")
    known = {work.name for work in every}
    if given.write:
        write({name: golden[name] for name in golden if name in known})
    gone = sorted(set(golden) - known)
    if gone and not given.write:
        print(f"gone: {', '.join(gone)}")
        moved += len(gone)
    print(
        f"{count - moved if not gone else count} passed, {moved} failed"
        if not given.write
        else f"{count} written ({MODE})"
    )
    return int(moved > 0)


def _computed(names: list[str], jobs: int) -> Iterator[tuple[str, Digest, float]]:
    """The records in their order, by this process or by several."""
    if jobs == 1:
        yield from map(_compute, names)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_compute, names, chunksize=4)


@functools.cache
def _by_name() -> dict[str, Work]:
    return {work.name: work for work in works()}


def _compute(name: str) -> tuple[str, Digest, float]:
    work = _by_name()[name]
    start = time.process_time()
    return name, work.compute(), time.process_time() - start


def _kept(golden: Golden, name: str) -> tuple[str, list[float]] | None:
    """The record of this mode; else that of the other, whose choices are the same and whose numbers differ in last digits only."""
    modes = golden.get(name, {})
    return modes.get(MODE) or next(iter(modes.values()), None)


def _wanted(work: Work, given: argparse.Namespace) -> bool:
    if given.quick and work.long and MODE == "interpreted":
        return False
    return not given.names or any(work.name.startswith(name) for name in given.names)


if __name__ == "__main__":
    sys.exit(main())
