#!/usr/bin/env python3
"""Measure how many calls of each kind a gateway serves, beside those of a function.

    function  `example.calculate`: no upstream, no table
    upstream  `avinode.search_flights`
    read      `entities.trips`: rows of a table
    keyed     `supabase.insert` with a new `Idempotency-Key` each time
    webhook   a signed message of Avinode: stored, answered, processed, and turned into an event

A gateway with the catalogue on SQLite has core 0 alone; upstream and load share core 1. In each
round the kinds take turns. A webhook counts when it is processed: the rate ends with the last job.
Compare the ratios of processor time and of rates, not single figures.

    python scripts/bench/kinds.py
    python scripts/bench/kinds.py --kinds function keyed --rounds 5 --json
    python scripts/bench/kinds.py --checkout ../older
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

import msgspec
import wire
from contenders import KEY, ROOT, example_arguments, gateway_server, upstream_server
from ingest_load import MessageJob
from load import Figures, Job
from machine import description
from msgspec import Struct
from processes import LOAD_CPU, BenchError, Server, ask, can_pin, loaded

BASE: Final = "function"
TOOLS: Final = {
    BASE: "example.calculate",
    "upstream": "avinode.search_flights",
    "read": "entities.trips",
    "keyed": "supabase.insert",
}
WEBHOOK: Final = "webhook"
KINDS: Final = (*TOOLS, WEBHOOK)
SECRET: Final = "a secret of the benchmark that is long enough"  # noqa: S105 - nobody's
PLACEHOLDER: Final = b"NUMBER-OF-THE-REQUEST"
_PAYLOAD: Final = ROOT / "schemas" / "webhooks" / "avinode" / "quote_received.payload.json"
_JOBS: Final = re.compile(
    rb'^gateway_jobs\{kind="webhook",state="(?:pending|retryable|processing)"\} (\d+)', re.MULTILINE
)
_POLL_SECONDS: Final = 0.05
_PROCESSED_SECONDS: Final = 300.0


class Sample(Struct, frozen=True):
    """One kind in one round."""

    per_second: float
    cpu_us: float
    """Processor time of the gateway for one of them, in microseconds."""
    p50_ms: float
    p999_ms: float


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    options = _parser().parse_args()
    try:
        rounds = measured(options)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    facts = description() | {"connections": options.connections, "seconds": options.seconds}
    if options.json:
        print(msgspec.json.encode({**facts, "rounds": rounds}).decode())
    else:
        print(*(f"{name}: {value}" for name, value in facts.items()), "", sep="\n")
        print(*_table(rounds), sep="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each: %(default)s")
    parser.add_argument("--connections", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="of another commit")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measured(options: argparse.Namespace) -> dict[str, list[Sample]]:
    """The samples of each kind. Raises `BenchError`."""
    rounds: dict[str, list[Sample]] = {kind: [] for kind in options.kinds}
    environment = {
        "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET,
        "GATEWAY_WEBHOOKS_AVINODE_RATE": "1000000",
        "GATEWAY_WEBHOOKS_AVINODE_ADDRESS_RATE": "1000000",
    }
    checkout = options.checkout.absolute()
    with (
        upstream_server() as upstream,
        gateway_server(upstream.url, checkout, environment) as gateway,
    ):
        for number in range(options.rounds):
            for kind in options.kinds if number % 2 == 0 else options.kinds[::-1]:
                print(f"round {number + 1}: {kind}", file=sys.stderr)
                rounds[kind].append(_sample(gateway, kind, options))
    return rounds


def _sample(gateway: Server, kind: str, options: argparse.Namespace) -> Sample:
    job, script = _job(gateway, kind, options)
    cpu, began = gateway.cpu_seconds(), time.perf_counter()
    figures = loaded(script, job, Figures)
    if figures.failures or not figures.calls:
        raise BenchError(f"{figures.failures} of {figures.calls} requests of {kind} failed")
    # The load generator also sends while it warms up.
    calls = figures.calls * (job.seconds + job.warm_up_seconds) / job.seconds
    rate = figures.calls_per_second
    if kind == WEBHOOK:
        _wait_until_processed(gateway)
        rate = calls / (time.perf_counter() - began)
    cpu_us = 1e6 * (gateway.cpu_seconds() - cpu) / calls
    return Sample(rate, cpu_us, figures.p50_ms, figures.p999_ms)


def _job(gateway: Server, kind: str, options: argparse.Namespace) -> tuple[Job, str]:
    """The load, and the script that makes it."""
    common: dict[str, Any] = {
        "port": gateway.port,
        "marker": b"",
        "connections": options.connections,
        "seconds": options.seconds,
        "cpu": LOAD_CPU if can_pin() else None,
    }
    if kind == WEBHOOK:
        (example, *_) = msgspec.json.decode(_PAYLOAD.read_bytes())["examples"]
        body = msgspec.json.encode({**example, "event_id": "EVENT_ID"})
        message = MessageJob(request=body, secret=SECRET, prefix=uuid4().hex, **common)
        return message, "ingest_load.py"
    tool = TOOLS[kind]
    path, arguments = f"/v1/{tool.replace('.', '/')}", example_arguments(tool)
    request = wire.rest(gateway.port, path, arguments, KEY)
    if kind != "keyed":
        ask(gateway, request)
        return Job(request=request, **common), "load.py"
    keyed = request.replace(b"\r\n", b"\r\nIdempotency-Key: %b\r\n" % PLACEHOLDER, 1)
    return Job(request=keyed, placeholder=PLACEHOLDER, **common), "load.py"


def _wait_until_processed(gateway: Server) -> None:
    """Return when no webhook waits or runs. Raises `BenchError`."""
    request = wire.message(gateway.port, "GET", "/metrics", b"", {"Authorization": f"Bearer {KEY}"})
    end = time.perf_counter() + _PROCESSED_SECONDS
    while time.perf_counter() < end:
        if not any(int(found) for found in _JOBS.findall(ask(gateway, request))):
            return
        time.sleep(_POLL_SECONDS)
    raise BenchError(f"webhooks were not processed within {_PROCESSED_SECONDS:.0f} s")


def _table(rounds: Mapping[str, Sequence[Sample]]) -> Iterator[str]:
    yield f"{'':10}{'per second':>12}{'of them':>9}{'CPU us':>9}{'p50':>10}{'p99.9':>10}{'x':>6}"
    base = rounds.get(BASE)
    for kind, samples in rounds.items():
        rate, cpu, p50, p999 = (
            median(getattr(sample, name) for sample in samples) for name in Sample.__struct_fields__
        )
        ratio = "-"
        if base:
            pairs = zip(samples, base, strict=True)
            ratio = f"{median(own.per_second / of.per_second for own, of in pairs):.2f}"
        yield (
            f"{kind:10}{rate:12,.0f}{ratio:>9}{cpu:9.0f}"
            f"{p50:7.1f} ms{p999:7.1f} ms{p999 / p50:6.1f}"
        )


if __name__ == "__main__":
    sys.exit(main())
