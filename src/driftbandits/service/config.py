"""The configuration of `driftbandits serve`; worker processes receive it as JSON in the environment."""

import os
import pathlib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ENVIRONMENT = "DRIFTBANDITS_SERVE"


class Config(BaseModel):
    """Settings of a server, and the limits that protect it from its callers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: pathlib.Path = pathlib.Path("driftbandits-data")
    database: str | None = None  # postgresql://…; loops are then in the database, not in `data`
    host: str = "127.0.0.1"
    port: int = 8080
    keys: pathlib.Path | None = None
    workers: int = 1
    rate: Annotated[float, Field(ge=0.0)] = 0.0  # requests per second and key; 0: any number
    max_body: int = 1 << 20  # bytes
    max_model: int = 1 << 28  # bytes of a model that an admin puts in place of a loop's
    max_depth: int = 16  # of nested JSON
    max_items: int = 10_000  # on offer in one decision
    max_features: int = 1000  # of an item, and of the context; each number of a vector counts
    max_memory: int = 256  # MiB for the models of one loop's items
    max_name: int = 256  # characters of a name, and of a string in a feature
    max_batch: int = 10_000  # decisions or rewards in one request
    max_open: int = 500  # loops that one process keeps open
    body_timeout: float = 30.0  # seconds until a body must have come
    log_bodies: bool = False  # write what clients send into the log

    def export(self) -> None:
        """Write it to the environment, where child processes find it."""
        os.environ[ENVIRONMENT] = self.model_dump_json()

    @classmethod
    def imported(cls) -> "Config":
        """What the parent process exported."""
        return cls.model_validate_json(os.environ[ENVIRONMENT])
