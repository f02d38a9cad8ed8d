#!/usr/bin/env python3
"""Measure how a flood from one host affects honest callers from other addresses.

A gateway with its usual limits serves 20 honest callers, each from its own loopback address
(127.0.0.2, …) with a valid key and a steady rate. In each round they are measured alone, and then
together with one address that keeps 1,000 sockets busy at full speed. Compare the ratios of each
round, not single figures. Kinds of flood:

  half       each socket sends one byte of a request and waits
  keyless    calls without a key
  guess      calls with keys that do not exist, a new one each time
  body       calls without a key that announce a mebibyte and send 64 KiB of it
  connect    connections that are opened and closed again

The gateway has core 0 alone. Honest callers and the flood share core 1, where the flood runs only
when the core is idle (`SCHED_IDLE`), so that the gateway is measured and not the load. The kernel's
work for the flood's packets on that core is included. Linux only.
"""

import argparse
import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from statistics import quantiles
from typing import Any, Final

import msgspec
from contenders import KEY, gateway_server
from figures import Spread, spread
from machine import description
from msgspec import Struct
from processes import LOAD_CPU, BenchError, Server, can_pin

NOWHERE: Final = "http://127.0.0.1:9"
ATTACKER: Final = "127.0.0.66"
KINDS: Final = ("half", "keyless", "guess", "body", "connect")
BODY: Final = b'{"name": "Ada"}'
WARM_UP_SECONDS: Final = 2.0
HOLD_SECONDS: Final = 30.0


class Figures(Struct, frozen=True, kw_only=True):
    """The figures of honest callers. Latencies are in milliseconds."""

    calls: int
    failures: int
    p50_ms: float
    p99_ms: float
    gateway_cpu_share: float


class Round(Struct, frozen=True, kw_only=True):
    """Honest callers alone, and during the flood."""

    alone: Figures
    flooded: Figures
    answers: dict[str, int]
    """Responses to the flood by status. `closed`: no response; `connected`: none expected."""

    @property
    def ratio(self) -> float:
        return self.flooded.p99_ms / self.alone.p99_ms


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    options = _parser().parse_args()
    if options.flood:
        asyncio.run(_flood(options))
        return 0
    try:
        report = description() | measure(options)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print(_text_of(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: all kinds")
    parser.add_argument("--sockets", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--callers", type=int, default=20, help="default: %(default)s")
    parser.add_argument(
        "--rate", type=float, default=10.0, help="calls per second of each caller (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each half of a round")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--flood", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    return parser


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure every kind in every round. Raises `BenchError`."""
    if can_pin():
        os.sched_setaffinity(0, {LOAD_CPU})
    found: dict[str, list[Round]] = {}
    for kind in options.kind or KINDS:
        # A new gateway, so that one flood does not use up the limits for the next.
        with gateway_server(NOWHERE) as server:
            asyncio.run(_honest(server, options, WARM_UP_SECONDS))
            found[kind] = [_round(server, kind, options) for _ in range(options.rounds)]
    return {
        "sockets": options.sockets,
        "callers": options.callers,
        "rate_of_each": options.rate,
        "seconds": options.seconds,
        "rounds": found,
        "p99_ratio": {kind: spread([each.ratio for each in all_]) for kind, all_ in found.items()},
    }


def _round(server: Server, kind: str, options: argparse.Namespace) -> Round:
    alone = asyncio.run(_honest(server, options, options.seconds))
    command = [sys.executable, __file__, "--flood", kind, "--port", str(server.port)]
    command += ["--sockets", str(options.sockets)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as flood:
        # It reports when its sockets are busy, and stops at the end of its input.
        if flood.stdin is None or flood.stdout is None or not flood.stdout.readline():
            raise BenchError("the flood did not start")
        flooded = asyncio.run(_honest(server, options, options.seconds))
        flood.stdin.close()
        answers = msgspec.json.decode(flood.stdout.read(), type=dict[str, int])
    print(f"{kind}: p99 {alone.p99_ms:.2f} → {flooded.p99_ms:.2f} ms", file=sys.stderr)
    return Round(alone=alone, flooded=flooded, answers=answers)


async def _honest(server: Server, options: argparse.Namespace, seconds: float) -> Figures:
    cpu, began = server.cpu_seconds(), time.perf_counter()
    ends = began + seconds
    callers = [
        _caller(server.port, f"127.0.0.{2 + number}", number / options.callers, options.rate, ends)
        for number in range(options.callers)
    ]
    outcomes = list(itertools.chain.from_iterable(await asyncio.gather(*callers)))
    latencies = sorted(each for each in outcomes if each is not None)
    if len(latencies) < 2:
        raise BenchError("no honest call was answered")
    cuts = quantiles(latencies, n=100)
    share = (server.cpu_seconds() - cpu) / (time.perf_counter() - began)
    return Figures(
        calls=len(outcomes),
        failures=len(outcomes) - len(latencies),
        p50_ms=cuts[49],
        p99_ms=cuts[98],
        gateway_cpu_share=share,
    )


async def _caller(
    port: int, address: str, phase: float, rate: float, ends: float
) -> list[float | None]:
    """Milliseconds of each call from its scheduled time; None for a failed one."""
    found: list[float | None] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    request = _request(port, KEY)
    due = time.perf_counter() + phase / rate
    while due < ends:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            if writer.is_closing() or reader.at_eof():
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port, local_addr=(address, 0)
                )
            writer.write(request)
            status = await _answer(reader)
        except (OSError, asyncio.IncompleteReadError):
            found.append(None)
        else:
            found.append(1000 * (time.perf_counter() - due) if status == "200" else None)
        due += 1 / rate
    writer.close()
    return found


def _request(port: int, key: str | None, length: int | None = None) -> bytes:
    lines = [
        "POST /v1/example/greet HTTP/1.1",
        f"host: 127.0.0.1:{port}",
        "content-type: application/json",
        f"content-length: {len(BODY) if length is None else length}",
        *([f"authorization: Bearer {key}"] if key else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (BODY if length is None else b"")


async def _answer(reader: asyncio.StreamReader) -> str:
    """The status of the next response, which is read completely."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    _, _, rest = head.partition(b"\r\ncontent-length: ")
    await reader.readexactly(int(rest.partition(b"\r\n")[0] or 0))
    return head.split(b" ")[1].decode()


async def _flood(options: argparse.Namespace) -> None:
    """Keep the sockets busy until the end of the input; then print the responses."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    answers: Counter[str] = Counter()
    sockets = [
        asyncio.create_task(_socket(options.flood, options.port, number, answers))
        for number in range(options.sockets)
    ]
    await asyncio.sleep(1)
    print("busy", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for each in sockets:
        each.cancel()
    await asyncio.gather(*sockets, return_exceptions=True)
    print(msgspec.json.encode(answers).decode())


async def _socket(kind: str, port: int, number: int, answers: Counter[str]) -> None:
    guesses = (f"guessed-{number:06}-{count:08}" for count in itertools.count())
    while True:
        writer = None
        try:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(ATTACKER, 0)
            )
            if kind == "connect":
                answers["connected"] += 1
            while kind != "connect":
                writer.write(_attack(kind, port, guesses))
                answers[await _attacked(kind, reader)] += 1
                if kind == "body":
                    # The rest of the body is missing, so a new connection is needed.
                    break
        except (OSError, asyncio.IncompleteReadError):
            answers["closed"] += 1
        finally:
            if writer is not None:
                writer.close()
        await asyncio.sleep(0)


def _attack(kind: str, port: int, guesses: Any) -> bytes:
    match kind:
        case "half":
            return b"P"
        case "body":
            return _request(port, None, 2**20) + b" " * 2**16
        case "guess":
            return _request(port, next(guesses))
        case _:
            return _request(port, None)


async def _attacked(kind: str, reader: asyncio.StreamReader) -> str:
    if kind == "half":
        await reader.readexactly(1)
    return await _answer(reader)


def _text_of(report: dict[str, Any]) -> str:
    lines = [
        f"{report['sockets']} sockets of one address against {report['callers']} callers of others",
        f"{'flood':10}{'p99 alone':>12}{'p99 flooded':>13}{'ratio':>8}{'failures':>10}  answers",
    ]
    for kind, rounds in report["rounds"].items():
        ratio: Spread = report["p99_ratio"][kind]
        lines.append(
            f"{kind:10}{_median(rounds, 'alone'):>9.2f} ms{_median(rounds, 'flooded'):>10.2f} ms"
            f"{ratio.median:>8.2f}{sum(each.flooded.failures for each in rounds):>10}  "
            f"{dict(sum((Counter(each.answers) for each in rounds), Counter()))}"
        )
    return "\n".join(lines)


def _median(rounds: Sequence[Round], half: str) -> float:
    return spread([getattr(each, half).p99_ms for each in rounds]).median


if __name__ == "__main__":
    sys.exit(main())
