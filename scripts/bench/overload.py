#!/usr/bin/env python3
"""Measure what a gateway does with five times the calls that it can serve.

First a closed loop measures its capacity, over REST and MCP in turn. Then calls come at a multiple
of this rate, whatever becomes of them, from 30 loopback addresses with valid keys. At last they
come at half of the capacity. The upstream replies at once (then the processor is the limit) or
after 50 ms (then most calls wait). Exits with 1 if

  goodput   is below 80 % of the capacity
  refusals  come later than 100 ms after the request was sent, at the 99th percentile
  answers   are neither correct nor a refusal with Retry-After

The gateway has core 0 alone. Upstream and load share core 1. On a machine with other work, compare
calls per second of the gateway's processor time, or raise the priority of the session before, as
root: `echo -15 > /proc/$$/autogroup`. Linux only.

    python scripts/bench/overload.py
    python scripts/bench/overload.py --times 10 --delays-ms 0 --seconds 10 --json
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import wire
from contenders import (
    GATEWAY,
    HERE,
    KEY,
    ROOT,
    UPSTREAM,
    example_arguments,
    exchange_behind,
    gateway_server,
)
from machine import description
from overload_load import Job, Outcome, Phase
from processes import LOAD_CPU, BenchError, Server, ask, can_pin, loaded, started

TOOL: Final = "avinode.search_flights"
ADDRESSES: Final = 30
CAPACITY_CONNECTIONS: Final = 64
SLOW_SECONDS: Final = 0.25
GOODPUT: Final = 0.8
REFUSED_MS: Final = 100.0
REFUSALS: Final = {"429", "503", "200 isError"}
_COLUMNS: Final = (
    f"{'phase':10}{'good/s':>8}{'p50 ms':>9}{'p99':>8}{'refused p50':>13}{'p99':>8}{'max':>8}"
    f"{'not sent':>10}{'RSS MB':>8}{'load':>6}  answers"
)
CAPACITY, OVERLOAD, AFTER = "capacity", "overload", "after"


def main() -> int:
    """Exit 0 if the bounds hold, 1 if not, 2 if a measurement is not possible."""
    options = _parser().parse_args()
    try:
        found = [measure(delay, options) for delay in options.delays_ms]
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    report = description() | {"times": options.times, "trials": found}
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print("\n".join([f"{report['date']}  {report['machine']}", *map(_text_of, found)]))
    return int(any(trial["failures"] for trial in found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=float, default=5.0, help="multiple of the capacity (5)")
    parser.add_argument(
        "--delays-ms", type=float, nargs="+", default=[0.0, 50.0], help="of the upstream (0 and 50)"
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="of each phase (%(default)s)")
    parser.add_argument("--connections", type=int, default=810, help="default: %(default)s")
    parser.add_argument("--rate", type=float, help="calls per second, in place of the multiple")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measure(delay_ms: float, options: argparse.Namespace) -> dict[str, Any]:
    """One trial. Raises `BenchError`."""
    with _upstream(delay_ms) as upstream, gateway_server(upstream.url) as gateway:
        requests = _requests(gateway)
        reply = exchange_behind(requests[0], gateway, upstream).answer
        marker = str(msgspec.json.decode(reply)["data"][-1]["id"]).encode()
        if not all(marker in ask(gateway, each) for each in requests):
            raise BenchError("the transports do not answer alike")
        warm_up = Phase(name="warm-up", seconds=2.0, connections=CAPACITY_CONNECTIONS)
        # With a reply after 50 ms, few connections would leave the processor without work.
        most = min(options.connections, CAPACITY_CONNECTIONS + int(2 * delay_ms))
        job = Job(
            server=gateway,
            requests=requests,
            marker=marker,
            addresses=ADDRESSES,
            connections=options.connections,
            phases=(warm_up, Phase(name=CAPACITY, seconds=options.seconds, connections=most)),
            slow_seconds=SLOW_SECONDS,
            cpu=LOAD_CPU if can_pin() else None,
        )
        capacity = loaded("overload_load.py", job, list[Outcome])[-1]
        rate = options.rate or options.times * capacity.goodput
        phases = (
            Phase(name=OVERLOAD, seconds=options.seconds, rate=rate, connections=most),
            Phase(name=AFTER, seconds=options.seconds, rate=capacity.goodput / 2, connections=most),
        )
        more = msgspec.structs.replace(job, phases=phases)
        overload, after = loaded("overload_load.py", more, list[Outcome])
    return _checked(delay_ms, rate, capacity, overload, after)


@contextmanager
def _upstream(delay_ms: float) -> Iterator[Server]:
    command = [GATEWAY, "mock", UPSTREAM, "--port", "0"]
    environment = {"GATEWAY_SCHEMAS": str(ROOT / "schemas")}
    with started("the mock upstream", command, cpu=LOAD_CPU, environment=environment) as origin:
        replay = [sys.executable, str(HERE / "replay.py"), origin.url, "--delay-ms", str(delay_ms)]
        with started("the replayed upstream", replay, cpu=LOAD_CPU) as upstream:
            yield upstream


def _requests(gateway: Server) -> tuple[bytes, ...]:
    arguments = example_arguments(TOOL)
    return (
        wire.rest(gateway.port, f"/v1/{TOOL.replace('.', '/')}", arguments, KEY),
        wire.mcp(gateway.port, wire.MODERN, TOOL.replace(".", "_"), arguments, KEY),
    )


def _checked(
    delay_ms: float, rate: float, capacity: Outcome, overload: Outcome, after: Outcome
) -> dict[str, Any]:
    share = overload.goodput / capacity.goodput
    refused_ms = overload.refused_ms[1]
    failures = []
    if share < GOODPUT:
        failures.append(f"goodput is {share:.0%} of the capacity")
    if refused_ms > REFUSED_MS:
        failures.append(f"refusals take {refused_ms:.0f} ms")
    if overload.without_retry_after:
        failures.append(f"{overload.without_retry_after} refusals without Retry-After")
    others = {*overload.answers, *capacity.answers, *after.answers} - REFUSALS - {"200"}
    if others:
        failures.append(f"answers: {', '.join(sorted(others))}")
    return {
        "delay_ms": delay_ms,
        "rate": rate,
        "goodput_of_capacity": share,
        "goodput_of_capacity_by_cpu": _by_cpu(overload) / _by_cpu(capacity),
        "recovery_seconds": after.settled_seconds,
        "phases": [capacity, overload, after],
        "failures": failures,
    }


def _by_cpu(outcome: Outcome) -> float:
    """Correct responses per second of the gateway's processor time."""
    return outcome.goodput * outcome.seconds / outcome.gateway_cpu_seconds


def _text_of(trial: dict[str, Any]) -> str:
    title = (
        f"upstream after {trial['delay_ms']:g} ms, {trial['rate']:.0f} calls/s: goodput is"
        f" {trial['goodput_of_capacity']:.0%} of the capacity"
        f" ({trial['goodput_of_capacity_by_cpu']:.0%} by processor time),"
        f" recovered after {trial['recovery_seconds']:.2f} s"
    )
    lines = ["", title, _COLUMNS]
    lines += [
        f"{each.name:10}{each.goodput:>8.0f}{each.good_ms[0]:>9.1f}{each.good_ms[1]:>8.1f}"
        f"{each.refused_ms[0]:>13.1f}{each.refused_ms[1]:>8.1f}{each.refused_ms[2]:>8.1f}"
        f"{each.not_sent:>10}{each.gateway_rss_mb:>8.0f}{each.load_cpu_share:>6.0%}"
        f"  {each.answers}"
        for each in trial["phases"]
    ]
    return "\n".join([*lines, *(f"  fails: {failure}" for failure in trial["failures"])])


if __name__ == "__main__":
    sys.exit(main())
