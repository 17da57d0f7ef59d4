"""A service that decides and learns: `uvicorn examples.fastapi_service:app`. The state is in one file; kill it at any moment.

POST /decide  {"items": {"a": {"price": 3.0}, "b": {"price": 2.5}}, "context": {"age": 31}}  ->  {"id": …, "item": "a", "propensity": 0.93}
POST /reward  {"id": …, "reward": 1}
GET  /info    for your metrics
"""

import os
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

import driftbandits as db


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Open the file, and let it go at the end."""
    path = os.environ.get("BANDIT", "shop.bandit")
    with db.Bandit.open(path, reward="click", on_drift=lambda event: print("drift:", event)) as app.state.bandit:
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(db.DriftBanditsError)
async def refuse(_: Request, problem: db.DriftBanditsError) -> JSONResponse:
    """Bad input is one line."""
    return JSONResponse(status_code=422, content={"detail": str(problem)})


@app.post("/decide")
def decide(
    items: dict[str, dict[str, Any] | None], context: dict[str, Any] | None = None, k: int = 1
) -> dict[str, Any]:
    """Choose an item, or a ranking of k."""
    d = app.state.bandit.decide(items, context, k=k)
    return {"id": d.id, "item": d.item, "items": d.items, "propensity": d.propensity}


@app.post("/reward")
def reward(body: dict[str, Any]) -> dict[str, bool]:
    """Learn the reward of a decision, once."""
    if not {"id", "reward"} <= body.keys():
        raise HTTPException(422, "a reward has an id and a number: {'id': …, 'reward': 1}")
    app.state.bandit.reward(body["id"], body["reward"])
    return {"ok": True}


@app.get("/info")
def info() -> dict[str, Any]:
    """What there is to watch."""
    return app.state.bandit.info()
