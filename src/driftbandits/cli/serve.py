"""`driftbandits serve`: decisions over HTTP."""

import importlib.util
import pathlib
from typing import Annotated

import typer

from .app import OWN_DATA, command
from .console import out

NEEDED = ("fastapi", "uvicorn", "prometheus_client", "orjson", "safetensors")


@command(OWN_DATA)
def serve(
    data: Annotated[
        pathlib.Path, typer.Option(help="Folder of the loops (SQLite); made if it is not there.")
    ] = pathlib.Path("driftbandits-data"),
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="postgresql://… instead of a folder: the same command on many machines."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than this machine only with keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port.")] = 8080,
    keys: Annotated[
        pathlib.Path | None, typer.Option(help="File of keys; it holds hashes only, and is read again when changed.")
    ] = None,
    new_key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Make a key, write its hash into the file of keys (keys.toml), print it, and end."
        ),
    ] = None,
    role: Annotated[
        str, typer.Option(help="Of the new key: decide (also reward and look), or admin (also make and delete loops).")
    ] = "admin",
    loops: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Of the new key: the loops that it is for (shop,mail); else all."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; one learns each loop, the others follow.")] = 1,
    rate: Annotated[float, typer.Option(min=0.0, help="Requests per second and key; 0: any number.")] = 0.0,
    max_body: Annotated[int, typer.Option(min=1024, help="Bytes of a request.")] = 1 << 20,
    max_model: Annotated[int, typer.Option(min=1024, help="Bytes of a model that an admin imports.")] = 1 << 28,
    max_depth: Annotated[int, typer.Option(min=4, help="Depth of nested JSON.")] = 16,
    max_items: Annotated[int, typer.Option(min=1, help="Items on offer in one decision.")] = 10_000,
    max_features: Annotated[int, typer.Option(min=1, help="Features of an item, and of the context.")] = 1000,
    max_memory: Annotated[int, typer.Option(min=1, help="MiB for the models of one loop's items.")] = 256,
    max_name: Annotated[int, typer.Option(min=1, help="Characters of a name or a string.")] = 256,
    max_batch: Annotated[int, typer.Option(min=1, help="Entries of a batch.")] = 10_000,
    max_open: Annotated[int, typer.Option(min=1, help="Loops that a process keeps open; idle ones are closed.")] = 500,
    log_bodies: Annotated[bool, typer.Option("--log-bodies", help="Write what clients send into the log.")] = False,
) -> None:
    """Serve decisions over HTTP: many loops, keys, metrics, a page to look at, and API documentation at /docs.

    First steps: driftbandits serve, then in another shell

    curl http://127.0.0.1:8080/loops/default/decide -d '{"items": ["a", "b"]}'

    curl http://127.0.0.1:8080/loops/default/reward -d '{"id": "THE ID OF THE ANSWER", "reward": 1}'

    curl -X PUT http://127.0.0.1:8080/loops/shop -d '{"reward": "click"}'  makes a loop of your own.
    """
    from ..errors import InvalidValue

    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InvalidValue(f"serve needs {' and '.join(missing)}: pip install 'driftbandits[serve]'")
    if new_key is not None:
        from ..service.keys import new_key as make_key

        path = keys or pathlib.Path("keys.toml")
        out.print(
            make_key(path, new_key, role, loops.split(",") if loops else ()),
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        return
    from ..service.config import Config
    from ..service.server import run

    run(
        Config(
            data=data.absolute(),
            database=database,
            host=host,
            port=port,
            keys=None if keys is None else keys.absolute(),
            workers=workers,
            rate=rate,
            max_body=max_body,
            max_model=max_model,
            max_depth=max_depth,
            max_items=max_items,
            max_features=max_features,
            max_memory=max_memory,
            max_name=max_name,
            max_batch=max_batch,
            max_open=max_open,
            log_bodies=log_bodies,
        ),
        say=lambda text: out.print(text, markup=False, highlight=False, soft_wrap=True),
    )
