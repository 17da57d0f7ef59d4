"""`driftbandits compile`: compile strategies into a cache ahead of time, for example for a container image."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import EXPERIMENTS, command
from .console import out

if TYPE_CHECKING:
    from ..zoo.record import Record

BANDIT = "bandit"  # db.Bandit, which is not a strategy of the zoo
CHILD = "from driftbandits.cli.compile import compile_agent; compile_agent({name!r})"


@command(EXPERIMENTS, name="compile")
def compile_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help="Names of strategies, e.g. lb_weight_ucb master; use bandit for db.Bandit.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every strategy of the zoo, and bandit.")] = False,
    cpu: Annotated[
        str,
        typer.Option(
            help="host: for this machine; generic: for every machine of the same architecture, slightly slower."
        ),
    ] = "host",
    into: Annotated[
        pathlib.Path | None,
        typer.Option(help="The cache folder, made readable for every user; by default your own cache."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; each takes about 500 MB.")] = 2,
) -> None:
    """Compile strategies ahead of time, so that the first decision of a process does not wait for a compiler.

    [b]driftbandits compile lb_weight_ucb --cpu generic --into /opt/driftbandits[/]

    Set DRIFTBANDITS_CACHE to the folder in the processes that should use it.
    """
    from ..core import code_cache
    from ..errors import InvalidValue

    if cpu not in ("host", "generic"):
        raise InvalidValue(f"--cpu {cpu} is not known; it must be host or generic")
    wanted = chosen(names or [], every)
    environment = dict(os.environ)
    environment.pop("NUMBA_DISABLE_JIT", None)
    if cpu == "generic":
        environment |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    place = code_cache.root() if into is None else into.absolute()
    environment["DRIFTBANDITS_CACHE"] = str(place)
    failed = 0
    for name, problem in compiled(wanted, environment, jobs):
        failed += bool(problem)
        out.print(f"{name:<26} {problem or 'compiled'}", markup=False)
    if into is not None:
        readable_for_all(place)
    out.print(f"{len(wanted) - failed} of {len(wanted)} in {place}", markup=False)
    if failed:
        raise typer.Exit(2)


def chosen(names: list[str], every: bool) -> list[str]:
    """The requested strategies; raises for an unknown one before anything is compiled."""
    from ..errors import InvalidValue
    from ..zoo.record import RECORDS

    if every == bool(names):
        raise InvalidValue("give the names of the strategies to compile, or --all")
    known = [*RECORDS, BANDIT]
    for name in names:
        if name not in known:
            raise InvalidValue(f"there is no strategy {name!r}; driftbandits list shows all of them")
    return known if every else list(dict.fromkeys(names))


def compiled(names: list[str], environment: dict[str, str], jobs: int) -> Iterator[tuple[str, str]]:
    """Yield each name with an error message or "". Each is compiled in its own process, because numba reads its settings on import."""

    def one(name: str) -> str:
        command = [sys.executable, "-c", CHILD.format(name=name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        said = done.stderr.strip().splitlines()
        return "" if done.returncode == 0 and not said else (said[-1] if said else f"exit code {done.returncode}")

    with ThreadPoolExecutor(jobs) as pool:
        tasks = {pool.submit(one, name): name for name in names}
        for task in as_completed(tasks):
            yield tasks[task], task.result()


def readable_for_all(place: pathlib.Path) -> None:
    """Make a cache readable, but not writable, for other users: a container image is built by root and run by another user."""
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


# ------------------------------------------------------------------------------------------------------------ in the child


def compile_agent(name: str) -> None:
    """Make an agent of a strategy, and have it decide and learn once."""
    from ..zoo.record import RECORDS

    if name == BANDIT:
        from ..bandit import Bandit

        front = Bandit(reward="value", seed=0)
        front.reward(front.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}, {"y": 1.0}).id, 1.0)
        return
    record = RECORDS[name]
    if record.family == "mdp":
        _plan(record)
    else:
        _decide(record)


def _decide(record: "Record") -> None:
    from .. import agent

    made = agent.Agent(record.build(), dim=3, horizon=40, compile="now")
    made.select([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    made.update(1.0)


def _plan(record: "Record") -> None:
    from .. import mdp

    world = (
        mdp.riverswim(episodes=2, horizon=3)
        if record.world == "linear mixture"
        else mdp.mnl_riverswim(episodes=2, horizon=3)
    )
    known: dict[str, Any] = {"phi": world.phi, "psi": world.psi, "horizon": 3, "episodes": 2, "compile": "now"}
    if record.world == "multinomial":
        known["reachable"] = world.reachable
    mdp.EpisodicAgent(record.build(), **known).begin_episode()
