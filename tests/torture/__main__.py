"""`make torture`: attack files, processes and calls, and count. Minutes by default, `--hours 4` for longer; fails if anything broke."""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator

from torture import attacks, forgery, interrupt_cases, wrong_values
from torture.interrupts import attack


def interrupts(rng_seed: int, budget: float) -> Iterator[tuple[int, list[str]]]:
    """Every call, at lines spread over all of it."""
    cases: dict[str, Callable[[], interrupt_cases.Case]] = {}
    for name, call in interrupt_cases.AGENT_CALLS:
        cases[f"Agent {name} {call}"] = lambda name=name, call=call: interrupt_cases.agent_case(name, call)
    for call in ("begin_episode", "observe", "observe the end"):
        cases[f"EpisodicAgent {call}"] = lambda call=call: interrupt_cases.episodic_case(call)
    for call in interrupt_cases.DURABLE_CALLS:
        cases[f"Durable {call}"] = lambda call=call: interrupt_cases.durable_case(call)
    for new in (False, True):
        cases[f"open new={new}"] = lambda new=new: interrupt_cases.open_case(new)
    for call in ("decide", "reward"):
        cases[f"Follower {call}"] = lambda call=call: interrupt_cases.follower_case(call)
    for call in interrupt_cases.bandit_calls([""] * 4):
        cases[f"Bandit {call}"] = lambda call=call: interrupt_cases.memory_case("interact", call)
        cases[f"Challenged {call}"] = lambda call=call: interrupt_cases.challenged_case(call)
    cases["merge"] = interrupt_cases.parts_case
    every = 1 if budget > 3600 else 23
    del rng_seed
    for name, make in cases.items():
        tried, wrong = attack(make(), every=every)
        yield tried, [f"{name}: {line}" for line in wrong]


def values(_: int, __: float) -> Iterator[tuple[int, list[str]]]:
    """Wrong values in every call."""
    import driftbandits as db

    with wrong_values.in_a_folder():
        yield wrong_values.attack_makers()
        yield wrong_values.attack_calls(db.Bandit)
        db.Bandit.open("d.bandit").close()
        yield wrong_values.attack_calls(lambda: db.Bandit.open("d.bandit"))


ATTACKS = {
    "killed with followers": attacks.kills,
    "disk full": attacks.full_disk,
    "flipped bits": attacks.flipped_bits,
    "forged files": forgery.forged_files,
    "clock jumps": attacks.clock_jumps,
    "fork and spawn": attacks.fork_and_spawn,
    "soak": attacks.soak,
    "wrong values": values,
    "interrupts": interrupts,
}


def main() -> int:
    """Run the attacks in turn, each for its share of the time."""
    parser = argparse.ArgumentParser(prog="torture")
    parser.add_argument("--hours", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=ATTACKS, action="append")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = asked.only or list(ATTACKS)
    share, broken, counts = 3600.0 * asked.hours / len(chosen), 0, {}
    for name in chosen:
        until, tried, wrong = time.monotonic() + share, 0, []
        for more, problems in ATTACKS[name](asked.seed, share):
            tried += more
            wrong += problems
            if time.monotonic() > until:
                break
        counts[name] = {"attempts": tried, "broken": len(wrong)}
        broken += len(wrong)
        print(
            f"{name:24s} {tried:8d} attempts, {len(wrong)} broken",
            *wrong[:10],
            sep="\n    " if wrong else " ",
            flush=True,
        )
    print(json.dumps({"seed": asked.seed, "hours": asked.hours, **counts}))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
