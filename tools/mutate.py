"""Change one thing in the code at a time and see whether a test notices (`make mutants`).

    python tools/mutate.py sample COUNT SEED [ROOM …]   draw so many of all changes of the rooms, each equally likely, and judge them
    python tools/mutate.py again SEED                   judge again what survived in that sample, after tests were written
    python tools/mutate.py fixed                        eleven changes of which none may survive

    + ↔ −   × ↔ /   < ↔ ≤   > ↔ ≥   min ↔ max   and ↔ or   a number + 1   `not` removed   a condition negated   a statement removed

Each mutant is made in a fork, where only tests that run its statement are asked, nearest and quickest first, for at most 30 s of CPU:
in core/ and mdp/ interpreted, in bandit/ and replay/ beside compiled kernels, which are not changed there. What survives is printed with
its line: a test is missing, or the change changes nothing that can be seen. The second is said, with the reason, in
`tools/mutants/judged.toml`; both are counted apart. Verdicts are kept in `build/mutants/`: a sample that was interrupted goes on.
"""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

COMMAND = sys.argv[1:2]
if COMMAND != ["judge"] or sys.argv[3:] != ["compiled"]:  # numba reads it when it is imported
    os.environ["NUMBA_DISABLE_JIT"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
#: Read by tests/conftest.py: a few examples of a property notice nearly as much as many, in a tenth of the time.
os.environ.setdefault("EXAMPLES", "4")

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "tools"), str(TOP / "src"), str(TOP / "tests")]

from mutants import changes, fixed, judged, reach, recording  # noqa: E402
from mutants.judge import Verdict, judge  # noqa: E402

ROOMS = ("core", "bandit", "mdp", "replay")
PARTS = 2  # processes that record
OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")  # pytest takes standard output for itself
Rows = dict[str, dict[str, Any]]


def sample(count: int, seed: int, rooms: Sequence[str]) -> int:
    """Draw, and judge what has not been judged yet."""
    drawn = [mutant.row() for mutant in changes.drawn(count, seed, rooms)]
    reach.KEPT.mkdir(parents=True, exist_ok=True)
    about = {"seed": seed, "rooms": list(rooms), "drawn": drawn}
    if _place(seed).exists() and json.loads(_place(seed).read_text(encoding="utf-8")) != about:
        for place in reach.KEPT.glob(f"sample-{seed}*.json"):  # of other code
            place.unlink()
    _place(seed).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
    return _judge_all(seed)


def again(seed: int) -> int:
    """Forget the verdicts of those that survived, and judge them again."""
    for world in reach.WORLDS:
        rows = {name: row for name, row in _verdicts(seed, world).items() if row["noticed"]}
        _place(seed, world).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    return _judge_all(seed)


def _judge_all(seed: int) -> int:
    """Each world in a process of its own: machine code is made or not when numba is imported."""
    for world in reach.WORLDS:
        subprocess.run([sys.executable, __file__, "judge", str(seed), world], check=True)
    _say(seed)
    return 0


def judge_world(seed: int, world: reach.World) -> int:
    """The mutants of a sample that are judged in this world, and have not been; each verdict is kept at once."""
    about, rows = json.loads(_place(seed).read_text(encoding="utf-8")), _verdicts(seed, world.name)
    drawn = changes.drawn(len(about["drawn"]), seed, about["rooms"])
    waiting = [mutant for mutant in drawn if reach.world_of(mutant.file) == world and _name(mutant) not in rows]
    if not waiting:
        return 0
    recording.record_stale(world, PARTS)
    recording.warm()

    def told(mutant: changes.Mutant, verdict: Verdict) -> None:
        rows[_name(mutant)] = mutant.row() | verdict._asdict()
        _place(seed, world.name).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
        mark = "noticed " if verdict.noticed else "SURVIVED"
        what = f"{mutant.file}:{mutant.line}  {mutant.change}"
        print(
            f"{len(rows):4d} {mark} {verdict.seconds:5.1f} s  {what}  [{verdict.how}: {verdict.test}]",
            file=OUT,
            flush=True,
        )

    judge(world, waiting, told)
    return 0


def _say(seed: int) -> None:
    """The share, and the survivors with their lines, judged and not."""
    rows = [row for world in reach.WORLDS for row in _verdicts(seed, world).values()]
    survivors = [row for row in rows if not row["noticed"]]
    reasons = judged.rows()
    same = [row for row in survivors if _key(row) in reasons]
    by = {how: sum(row["how"] == how for row in rows) for how in sorted({row["how"] for row in rows})}
    print(json.dumps({"seed": seed, "judged": len(rows), **by}), file=OUT)
    for row in sorted(survivors, key=lambda row: (row["file"], row["line"])):
        why = f"  judged: {reasons[_key(row)].why}" if _key(row) in reasons else ""
        asked = f"{row['asked']} of {row['reach']} tests asked"
        print(f"{row['file']}:{row['line']}  {row['change']}  in: {row['statement']}  ({asked}){why}", file=OUT)
    noticed = len(rows) - len(survivors)
    share = noticed / max(len(rows), 1)
    print(f"noticed {noticed} of {len(rows)} ({share:.1%}); {len(same)} of the others change nothing", file=OUT)


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["file"], row["statement"], row["change"]


def _name(mutant: changes.Mutant) -> str:
    return f"{mutant.number} {mutant.file}"


def _verdicts(seed: int, world: str) -> Rows:
    place = _place(seed, world)
    return json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}


def _place(seed: int, world: str = "") -> pathlib.Path:
    return reach.KEPT / (f"sample-{seed}-{world}.json" if world else f"sample-{seed}.json")


def main(arguments: Sequence[str]) -> int:
    """What was asked."""
    match arguments:
        case ["sample", count, seed, *rooms]:
            return sample(int(count), int(seed), rooms or ROOMS)
        case ["again", seed]:
            return again(int(seed))
        case ["judge", seed, world]:
            return judge_world(int(seed), reach.WORLDS[world])
        case ["fixed"]:
            return fixed.try_all()
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
