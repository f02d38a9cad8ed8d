#!/usr/bin/env python3
"""Measure what the bridge (`gateway mcp --url`) adds to a call: milliseconds beyond HTTP.

One call after another, over HTTP and over standard input and output of a bridge in turn, so that
both see the same machine. `stdio` is `gateway mcp` without a remote, which serves the tools itself.
The tool is `example.greet` of a gateway on mocks. HTTP is one kept connection of this process. The
result is the median of each, and the median of the differences of neighbouring calls. `ready` is
the time from the start of a program to its first answer; beside it are the processor time that the
program has used by then and the memory that it holds. `python -c pass` uses 0.02 s and 8 MB.

With --against, the bridge of another checkout takes part, such as one that `git worktree add` made
of an older commit.

    python scripts/bench/bridge.py
    python scripts/bench/bridge.py --calls 2000 --against ../older --json
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, TypeAlias

import msgspec
import wire
from contenders import KEY, ROOT, of_other
from machine import description
from msgspec import Struct
from processes import BenchError, Server, started

WARM: Final = 50
Call: TypeAlias = Callable[[dict[str, Any]], Any]
QUIET: Final = {"GATEWAY_LOG_LEVEL": "error"}


class Pipe(Struct, frozen=True):
    """A `gateway mcp` that is spoken to over its standard input and output."""

    checkout: Path
    options: tuple[str, ...]
    environment: dict[str, str]


class Ready(Struct, frozen=True):
    """What a program has used until its first answer."""

    seconds: float
    cpu_seconds: float
    resident_mb: float


class Row(Struct, frozen=True):
    """A way to the gateway, in one revision."""

    way: str
    revision: str
    p50_ms: float
    p99_ms: float
    extra_ms: float
    """The median of the differences to the call over HTTP just before. 0 for HTTP, and below 0 for
    a way that is faster."""
    ready: Ready | None


def main() -> int:
    """Measure, and print the result."""
    options = _parser().parse_args()
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as own,
            ExitStack() as stack,
        ):
            serve = [sys.executable, "-m", "gateway", "serve", "--port", "0", "--data", folder]
            environment = {"GATEWAY_BOOTSTRAP_KEY": KEY, **QUIET}
            gateway = stack.enter_context(
                started("the gateway", serve, cpu=None, environment=environment, folder=ROOT)
            )
            pipes = {
                "stdio": Pipe(ROOT, ("--agent", "administrator", "--data", own), QUIET),
                "bridge": _bridge(ROOT, gateway),
            }
            if options.against is not None:
                pipes[of_other("bridge")] = _bridge(options.against.resolve(), gateway)
            rows = [
                row
                for revision in (wire.MODERN, wire.HANDSHAKE)
                for row in _measured(gateway.port, revision, pipes, options.calls)
            ]
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report = {**description(), "calls": options.calls, "rows": rows}
    print(msgspec.json.encode(report).decode() if options.json else "\n".join(_lines(report)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1000, help="of each way and revision")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _bridge(checkout: Path, gateway: Server) -> Pipe:
    return Pipe(checkout, ("--url", f"{gateway.url}/mcp"), {"GATEWAY_KEY": KEY})


def _measured(port: int, revision: str, pipes: Mapping[str, Pipe], calls: int) -> Iterator[Row]:
    with ExitStack() as stack:
        ready: dict[str, Ready] = {}
        ways: dict[str, Call] = {"HTTP": stack.enter_context(_http(port, revision))}
        for name, pipe in pipes.items():
            began = time.perf_counter()
            process, ways[name] = stack.enter_context(_piped(pipe, revision))
            ways[name](_message("ping", {}, revision, 0))
            seconds = time.perf_counter() - began
            used = Server(name, process, 0)
            ready[name] = Ready(seconds, used.cpu_seconds(), used.rss_mb())
        taken = _calls(ways, revision, calls)
    direct = taken["HTTP"]
    for name, each in taken.items():
        extra = [way - http for way, http in zip(each, direct, strict=True)]
        yield Row(
            way=name,
            revision=revision,
            p50_ms=median(each),
            p99_ms=quantiles(each, n=100)[-1],
            extra_ms=median(extra),
            ready=ready.get(name),
        )


def _calls(ways: Mapping[str, Call], revision: str, calls: int) -> dict[str, list[float]]:
    """Milliseconds of each call, without the first ones."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(WARM + calls):
        if sys.stderr.isatty() and number % 20 == 0:
            print(f"\r{revision}: call {number}/{WARM + calls}", end="", file=sys.stderr)
        params = {"name": "example_greet", "arguments": {"name": f"Ada {number}"}}
        for name, call in ways.items():
            message = _message("tools/call", params, revision, number)
            began = time.perf_counter()
            answer = call(message)
            taken[name].append((time.perf_counter() - began) * 1000)
            if answer["result"]["structuredContent"]["greeting"] != f"Hello, Ada {number}!":
                raise BenchError(f"{name} gave another answer: {answer}")
    return {name: each[WARM:] for name, each in taken.items()}


def _message(method: str, params: dict[str, Any], revision: str, number: int) -> dict[str, Any]:
    if revision == wire.MODERN:
        params = {**params, "_meta": wire.META}
        method = "server/discover" if method == "ping" else method
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@contextmanager
def _http(port: int, revision: str) -> Iterator[Call]:
    connection = HTTPConnection("127.0.0.1", port)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {KEY}",
        "MCP-Protocol-Version": revision,
    }
    if revision == wire.MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "example_greet"}

    def call(message: dict[str, Any]) -> Any:
        connection.request("POST", "/mcp", json.dumps(message), headers)
        return json.loads(connection.getresponse().read())

    yield call
    connection.close()


@contextmanager
def _piped(pipe: Pipe, revision: str) -> Iterator[tuple[int, Call]]:
    """The process, and what calls over its pipes."""
    with subprocess.Popen(
        [sys.executable, "-m", "gateway", "mcp", *pipe.options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(pipe.checkout), "PATH": "", **pipe.environment},
        cwd=pipe.checkout,
    ) as process:
        write, read = process.stdin, process.stdout
        if write is None or read is None:
            raise BenchError("a gateway has no pipes")

        def send(message: Mapping[str, Any]) -> None:
            write.write(json.dumps(message).encode() + b"\n")
            write.flush()

        def call(message: dict[str, Any]) -> Any:
            send(message)
            line = read.readline()
            if not line:
                raise BenchError("a gateway has ended")
            return json.loads(line)

        if revision == wire.HANDSHAKE:
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": wire.CLIENT}
            call({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params})
            send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield process.pid, call
        write.close()


def _lines(report: Mapping[str, Any]) -> Sequence[str]:
    rows: Sequence[Row] = report["rows"]
    return [
        *(f"{name}: {report[name]}" for name in ("command", "date", "machine", "python", "calls")),
        f"load average before: {report['load_average']:.1f}",
        "",
        (
            f"{'':14}{'revision':12}{'p50 ms':>8}{'p99 ms':>8}{'beyond HTTP ms':>16}"
            f"{'ready s':>9}{'cpu s':>8}{'MB':>6}"
        ),
        *(
            f"{row.way:14}{row.revision:12}{row.p50_ms:8.2f}{row.p99_ms:8.2f}{row.extra_ms:16.2f}"
            + ("" if row.ready is None else _ready(row.ready))
            for row in rows
        ),
    ]


def _ready(ready: Ready) -> str:
    return f"{ready.seconds:9.2f}{ready.cpu_seconds:8.2f}{ready.resident_mb:6.0f}"


if __name__ == "__main__":
    sys.exit(main())
