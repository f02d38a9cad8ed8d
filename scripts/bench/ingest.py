"""Compare durable ingest with a handler that only verifies, inserts and commits.

Each contender has one core alone; the load and PostgreSQL share the other. Full load gives the
rate; half of the gateway's rate gives the latency of the acknowledgement. Every message is new and
signed, and only 202 counts. Contenders take turns, so that other load on the machine affects all of
them.

    scripts/bench/ingest.py [--engine sqlite|postgresql|both] [--rounds 3] [--seconds 5] [--json]
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

import msgspec
from databases import SERVER, new_database
from ingest_load import MessageJob
from ingest_server import SECRET
from load import Figures
from machine import description
from msgspec import Struct
from processes import LOAD_CPU, BenchError, Server, can_pin, loaded, started

HERE: Final = Path(__file__).resolve().parent
NAMES: Final = ("gateway", "bare")
TARGET_RATE: Final = 2000
TARGET_RATIO: Final = 0.6
TARGET_P99_MS: Final = 50.0


class Sample(Struct, frozen=True, kw_only=True):
    """One contender in one round."""

    per_second: float
    cpu_us: float
    """Processor time of the server for one message in microseconds, without PostgreSQL."""
    p50_ms: float
    p99_ms: float
    load_cpu_share: float


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    options = _parser().parse_args()
    engines = ("sqlite", "postgresql") if options.engine == "both" else (options.engine,)
    try:
        report = description() | {
            "connections": options.connections,
            "rounds": options.rounds,
            "seconds": options.seconds,
            "engines": {engine: _measure(engine, options) for engine in engines},
        }
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print(_text(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=64, help="default: %(default)s")
    parser.add_argument(
        "--postgresql",
        default=SERVER,
        metavar="URL",
        help="a server on which databases can be created; default: %(default)s",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def _measure(engine: str, options: argparse.Namespace) -> dict[str, Any]:
    """Rates and latencies of both contenders. Raises `BenchError`."""
    body = _body()
    rounds: dict[str, list[Sample]] = {name: [] for name in NAMES}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(_server(name, engine, options)) for name in NAMES}
        for number in range(options.rounds):
            turn = NAMES if number % 2 == 0 else NAMES[::-1]
            rates = {name: _load(servers[name], body, options, None) for name in turn}
            half = rates["gateway"][0].calls_per_second / 2
            for name in turn:
                print(f"{engine}, round {number + 1}: {name}", file=sys.stderr)
                figures, cpu_us = rates[name]
                calm, _ = _load(servers[name], body, options, half)
                rounds[name].append(
                    Sample(
                        per_second=figures.calls_per_second,
                        cpu_us=cpu_us,
                        p50_ms=calm.p50_ms,
                        p99_ms=calm.p99_ms,
                        load_cpu_share=figures.cpu_share,
                    )
                )
    return _summary(rounds, len(body))


def _summary(rounds: Mapping[str, Sequence[Sample]], size: int) -> dict[str, Any]:
    pairs = zip(rounds["gateway"], rounds["bare"], strict=True)
    ratios = [own.per_second / bare.per_second for own, bare in pairs]
    return {
        "message_bytes": size,
        "samples": rounds,
        "ratio": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
    }


@contextmanager
def _server(name: str, engine: str, options: argparse.Namespace) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/bench.db"
        if engine == "postgresql":
            url = stack.enter_context(new_database(options.postgresql))
        command = [sys.executable, str(HERE / "ingest_server.py"), name, url]
        yield stack.enter_context(started(name, command))


def _load(
    server: Server, body: bytes, options: argparse.Namespace, rate: float | None
) -> tuple[Figures, float]:
    """The figures, and the server's processor time for one message in microseconds."""
    job = MessageJob(
        port=server.port,
        request=body,
        marker=b"",
        connections=options.connections,
        seconds=options.seconds,
        rate=rate,
        cpu=LOAD_CPU if can_pin() else None,
        secret=SECRET,
        prefix=uuid4().hex,
    )
    cpu = server.cpu_seconds()
    figures = loaded("ingest_load.py", job, Figures)
    if figures.failures or not figures.calls:
        raise BenchError(f"{server.name} refused {figures.failures} messages")
    share = job.seconds / (job.seconds + job.warm_up_seconds)
    return figures, 1e6 * (server.cpu_seconds() - cpu) * share / figures.calls


def _body() -> bytes:
    """The quote of its contract's example, with a placeholder for the id."""
    path = HERE.parent.parent / "schemas" / "webhooks" / "avinode" / "quote_received.payload.json"
    (example, *_) = msgspec.json.decode(path.read_bytes())["examples"]
    return msgspec.json.encode({**example, "event_id": "EVENT_ID"})


def _text(report: Mapping[str, Any]) -> str:
    lines = [f"{key}: {report[key]}" for key in ("command", "date", "machine", "pinning")]
    lines.append(f"load average before: {report['load_average']:.1f}")
    lines.append(
        f"load: {report['connections']} connections,"
        f" {report['rounds']} rounds of {report['seconds']:g} s"
    )
    for engine, found in report["engines"].items():
        lines += ["", f"{engine}, messages of {found['message_bytes']} bytes (medians)"]
        lines.append(f"{'':10}{'messages/s':>12}{'CPU us':>9}{'ack p50 ms':>12}{'ack p99 ms':>12}")
        for name, samples in found["samples"].items():
            row = {
                key: median(getattr(s, key) for s in samples) for key in Sample.__struct_fields__
            }
            lines.append(
                f"{name:10}{row['per_second']:12,.0f}{row['cpu_us']:9.0f}"
                f"{row['p50_ms']:12.2f}{row['p99_ms']:12.2f}"
            )
        lines.append(
            f"gateway / bare: {found['ratio']:.0%}"
            f" ({found['ratio_low']:.0%} to {found['ratio_high']:.0%});"
            f" asked for: {TARGET_RATIO:.0%}, {TARGET_RATE:,}/s, p99 below {TARGET_P99_MS:g} ms"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
