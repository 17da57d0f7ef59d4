"""`GET /metrics`: how requests went, and the state of every loop.

The counts of a loop come from its bandit. They survive restarts and are the same whichever worker is asked, except that a follower is
behind by its newest snapshot. Latencies are counted per process; with several workers prometheus-client adds them up (`MULTIPROCESS`).
"""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from ..errors import DriftBanditsError
from .loop import Loop
from .loops import Loops

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
REGISTRY = CollectorRegistry()  # of this process
LATENCY = Histogram(
    "driftbandits_request_seconds", "Time until a request was answered.", ["route"], buckets=BUCKETS, registry=REGISTRY
)
REQUESTS = Counter("driftbandits_requests", "Requests answered.", ["route", "method", "status"], registry=REGISTRY)
METHODS = {"GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"}

COUNTERS = {  # name of the metric -> key of info(), help
    "decisions": ("decisions", "Decisions made."),
    "rewards": ("rewards", "Rewards learned."),
    "late": ("late", "Rewards that came after a later decision."),
    "expired": ("expired", "Decisions given up after reward_wait."),
    "dropped": ("dropped", "Decisions given up because more than max_pending waited."),
    "ignored": ("ignored", "Second rewards that were ignored."),
    "replaced": ("replaced", "Rewards that were replaced."),
    "refused_rows": ("refused", "Rows of the log that could not be applied."),
    "drift_events": ("drift_events", "Changes of the world that were noticed (at most 1000 are kept)."),
}
GAUGES = {
    "pending": ("pending", "Decisions that wait for a reward."),
    "effective_memory": ("effective_memory", "Observations that the estimate rests on."),
    "sigma": ("sigma", "Standard deviation of the noise of rewards."),
    "items": ("items", "Items with a model of their own."),
    "log_lag_rows": ("log_lag", "Rows of the log that this process's state does not have yet."),
    "learner": ("learner", "1 if the process that was asked is the learner."),
}


def observe(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request."""
    latency, requests = _of(route, method if method in METHODS else "OTHER", status)
    latency.observe(seconds)
    requests.inc()


@cache  # there are as many as templates of paths, methods and statuses
def _of(route: str, method: str, status: int) -> tuple[Histogram, Counter]:
    return LATENCY.labels(route), REQUESTS.labels(route, method, str(status))


class LoopCollector:
    """The loops as metrics, looked at when asked."""

    def __init__(self, loops: Loops) -> None:
        self.loops = loops

    def collect(self) -> Iterator[Metric]:
        """One family per metric, one sample per loop."""
        known = [*_told(self.loops)]
        yield GaugeMetricFamily("driftbandits_loops", "Loops of this service.", value=len(self.loops.catalogue.names()))
        for table, family in ((COUNTERS, CounterMetricFamily), (GAUGES, GaugeMetricFamily)):
            for name, (key, help_) in table.items():
                metric = family(f"driftbandits_loop_{name}", help_, labels=["loop"])
                for loop, info in known:
                    value = info.get(key)
                    if isinstance(value, int | float):
                        metric.add_metric([loop], float(value))
                yield metric


def _told(loops: Loops) -> Iterator[tuple[str, dict[str, Any]]]:
    """What loops tell, but for those that cannot be read now."""
    names = loops.catalogue.names()[: loops.most]
    for name in names:
        try:
            yield name, loops.use(name, _info)
        except DriftBanditsError:
            continue


def _info(loop: Loop) -> dict[str, Any]:
    return {**loop.info(), "log_lag": loop.lag()}


def exposition(loops: Loops) -> bytes:
    """The page, in Prometheus's text format."""
    registry: Any = REGISTRY
    if os.environ.get(MULTIPROCESS):
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    own = CollectorRegistry()
    own.register(LoopCollector(loops))
    return generate_latest(registry) + generate_latest(own)
