"""Change one thing in the code at a time and see whether a test notices (`make mutants`).

    python tools/mutate.py sample COUNT SEED [ROOM …]   draw so many of all changes of the rooms, each equally likely
    python tools/mutate.py again SEED                   judge again what survived in that sample, after tests were written
    python tools/mutate.py record                       only record which tests reach which lines (the others do so when it is needed)
    python tools/mutate.py fixed                        eleven changes of which none may survive

    + ↔ −   × ↔ /   < ↔ ≤   > ↔ ≥   min ↔ max   and ↔ or   a number + 1   `not` removed   a condition negated   a statement removed

Each mutant is made in a fork, where only tests that run its statement are asked, interpreted, nearest and quickest first, for at most
30 s of CPU. What survives is printed with its line: a test is missing there, or the change changes nothing that can be seen. The second
is said, with the reason, in `tools/mutants/judged.toml`; both are counted apart. Results are kept in `build/mutants/sample-SEED.json`.
"""

import json
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

os.environ |= {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}
#: Read by tests/conftest.py: a few examples of a property notice nearly as much as many, in a tenth of the time.
os.environ.setdefault("EXAMPLES", "4")

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "tools"), str(TOP / "src"), str(TOP / "tests")]

from mutants import changes, fixed, judged, recording  # noqa: E402
from mutants.judge import Verdict, judge  # noqa: E402
from mutants.reach import KEPT  # noqa: E402

ROOMS = ("core", "bandit", "mdp", "replay")
WORKERS = 2


def sample(count: int, seed: int, rooms: Sequence[str]) -> int:
    """Draw and judge."""
    drawn = changes.drawn(count, seed, rooms)
    return _judge(drawn, {"seed": seed, "rooms": list(rooms), "mutants": {}})


def again(seed: int) -> int:
    """Those that survived, drawn again as they were; the package must not have changed."""
    kept = json.loads(_place(seed).read_text(encoding="utf-8"))
    drawn = changes.drawn(len(kept["mutants"]), seed, kept["rooms"])
    if [mutant.row() for mutant in drawn] != [_asked(row) for row in kept["mutants"].values()]:
        raise SystemExit("the package has changed since: draw a sample anew")
    survivors = [mutant for mutant in drawn if not kept["mutants"][_name(mutant)]["noticed"]]
    return _judge(survivors, kept)


def _judge(mutants: Sequence[changes.Mutant], kept: dict[str, Any]) -> int:
    """Judge them, keep each verdict at once, and say what it comes to."""
    recording.record_stale(WORKERS)
    recording.warm()
    number = 0

    def told(mutant: changes.Mutant, verdict: Verdict) -> None:
        nonlocal number
        number += 1
        kept["mutants"][_name(mutant)] = mutant.row() | verdict._asdict()
        _place(kept["seed"]).write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
        mark = "noticed " if verdict.noticed else "SURVIVED"
        what = f"{mutant.file}:{mutant.line}  {mutant.change}"
        print(
            f"{number:4d} {mark} {verdict.seconds:5.1f} s  {what}  [{verdict.how}: {verdict.test}]",
            file=OUT,
            flush=True,
        )

    judge(mutants, told)
    _say(kept)
    return 0


def _say(kept: dict[str, Any]) -> None:
    """The share, and the survivors with their lines, judged and not."""
    rows = list(kept["mutants"].values())
    survivors = [row for row in rows if not row["noticed"]]
    reasons = judged.rows()
    same = [row for row in survivors if (row["file"], row["statement"], row["change"]) in reasons]
    by = {how: sum(row["how"] == how for row in rows) for how in sorted({row["how"] for row in rows})}
    print(json.dumps({"seed": kept["seed"], "drawn": len(rows), **by, "judged to change nothing": len(same)}), file=OUT)
    for row in survivors:
        why = "" if row not in same else f"  judged: {reasons[row['file'], row['statement'], row['change']].why}"
        asked = f"{row['asked']} of {row['reach']} tests asked"
        print(f"{row['file']}:{row['line']}  {row['change']}  in: {row['statement']}  ({asked}){why}", file=OUT)
    noticed = len(rows) - len(survivors)
    print(f"noticed {noticed} of {len(rows)} ({noticed / len(rows):.1%}); {len(same)} more change nothing", file=OUT)


def _name(mutant: changes.Mutant) -> str:
    return f"{mutant.number} {mutant.file}"


def _asked(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("file", "line", "change", "statement")}


def _place(seed: int) -> pathlib.Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    return KEPT / f"sample-{seed}.json"


OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")  # pytest takes standard output for itself


def main(arguments: Sequence[str]) -> int:
    """What was asked."""
    match arguments:
        case ["sample", count, seed, *rooms]:
            return sample(int(count), int(seed), rooms or ROOMS)
        case ["again", seed]:
            return again(int(seed))
        case ["record"]:
            return recording.record_stale(WORKERS) * 0
        case ["fixed"]:
            return fixed.try_all()
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
