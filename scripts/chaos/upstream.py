"""R11: an upstream that fails gets few requests, and tools of others do not notice.

A gateway is called at a constant rate: one tool at an upstream of this script, and one tool without
an upstream. First the upstream is healthy, then a share of its replies has a fault. Counted are the
requests that it got for each call, the answers of callers, after how many seconds the gateway began
to refuse calls without a request, and how long the other tool took before and meanwhile.

    python scripts/chaos/upstream.py --seconds 15
    python scripts/chaos/upstream.py --faults 503 reset --shares 1 --seconds 5 --json
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

import httpx
from faulty import FAULTS, HEALTHY, FaultyServer, faulty_server
from gateways import KEY, Nursery, environment, nursery, serving
from msgspec import Struct, to_builtins
from trial import Bar, free_port, percentile

SHARES: Final = (0.05, 0.2, 0.5, 0.8, 1.0)
_FREE_RETRIES: Final = 10
"""An upstream that was healthy has earned so many retries."""
_RETRY_SHARE: Final = 0.2
_FLAT: Final = frozenset({"503", "reset", "truncated", "bomb"})
"""Faults that open the breaker when all replies have them, before a time limit is over."""
_MAY_END: Final = {
    "latency": {"upstream-timeout"},
    "429": {"upstream-rate-limited"},
    "503": {"upstream-unavailable"},
    "reset": {"upstream-unavailable"},
    "truncated": {"upstream-unavailable"},
    "drip": {"upstream-timeout"},
    "garbage": {"invalid-reply"},
    "redirect": {"upstream-rejected"},
    "bomb": {"upstream-rejected"},
}
"""The problems that a fault may cause, besides `not-sent`."""


class Found(Struct, kw_only=True):
    """What one fault at one share did."""

    fault: str
    share: float
    calls: int
    requests: int
    answers: dict[str, int]
    """By `ok` or the problem."""
    refused_after_seconds: float | None
    """When the first call was refused without a request. None: none was."""
    other_p99_ms: float
    other_p99_before_ms: float
    failures: list[str]

    @property
    def ratio(self) -> float:
        """Requests for each call."""
        return self.requests / max(self.calls, 1)


class Load:
    """Calls at a constant rate, whose answers are counted. No call waits for another one."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._count = 0
        self.forget()

    def forget(self) -> None:
        """Begin to count again."""
        self.answers: Counter[str] = Counter()
        self.other_seconds: list[float] = []
        self.other_failures = 0
        self.began = time.monotonic()
        self.refused_after: float | None = None

    async def run(self, seconds: float, rate: float) -> None:
        """Call both tools `rate` times a second, and wait for all answers."""
        self.forget()
        async with asyncio.TaskGroup() as group:
            while (passed := time.monotonic() - self.began) < seconds:
                self._count += 1
                group.create_task(self._call(self._count))
                group.create_task(self._call_other())
                await asyncio.sleep(max(0.0, self._count_due(passed, rate)))

    def _count_due(self, passed: float, rate: float) -> float:
        return (int(passed * rate) + 1) / rate - passed

    async def _call(self, number: int) -> None:
        body = {"query": f"airport {number}"}
        answer = await self._http.post("/v1/avinode/search_airports", json=body)
        found = "ok" if answer.status_code == 200 else answer.json()["type"].rpartition("/")[2]
        if found == "not-sent" and self.refused_after is None:
            self.refused_after = time.monotonic() - self.began
        self.answers[found] += 1

    async def _call_other(self) -> None:
        began = time.monotonic()
        answer = await self._http.post("/v1/example/greet", json={"name": "Ada"})
        self.other_seconds.append(time.monotonic() - began)
        self.other_failures += answer.status_code != 200


def main() -> int:
    """Run all trials and print their report."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--faults", nargs="+", choices=list(FAULTS), default=list(FAULTS))
    made.add_argument("--shares", nargs="+", type=float, default=list(SHARES))
    made.add_argument("--seconds", type=float, default=15.0, help="of each trial")
    made.add_argument("--rate", type=float, default=40.0, help="calls of each tool per second")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--json", action="store_true", help="print JSON")
    options = made.parse_args()
    found = asyncio.run(_run(options))
    if options.json:
        print(json.dumps([to_builtins(each) | {"ratio": each.ratio} for each in found]))
    else:
        print("\n".join(_table(found)))
    failures = [failure for each in found for failure in each.failures]
    print("\n".join(failures), end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


async def _run(options: argparse.Namespace) -> list[Found]:
    found: list[Found] = []
    bar = Bar("upstream", len(options.faults) * len(options.shares))
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        async with nursery(Path(folder)) as born:
            for fault in options.faults:
                for share in options.shares:
                    found.append(await _try(born, Path(folder), fault, share, options))
                    bar.step(f"{fault} {share:g}")
    return found


async def _try(
    born: Nursery, folder: Path, fault: str, share: float, options: argparse.Namespace
) -> Found:
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with faulty_server(random) as (url, upstream):
        settings = environment(
            "memory:",
            GATEWAY_BOOTSTRAP_KEY=KEY,
            GATEWAY_BACKEND_AVINODE="live",
            GATEWAY_AVINODE_BASE_URL=url,
            GATEWAY_AVINODE_API_TOKEN=KEY,
            GATEWAY_AVINODE_ACCESS_TOKEN=KEY,
            GATEWAY_LOG_LEVEL="error",
        )
        data = folder / f"{fault}-{share:g}"
        process = await born.start(*serving(data, free_port()), env=settings)
        try:
            async with httpx.AsyncClient(
                base_url=await process.ready(),
                headers={"authorization": f"Bearer {KEY}"},
                timeout=90,
                limits=httpx.Limits(max_connections=None),
            ) as http:
                return await _measure(Load(http), upstream, fault, share, options)
        finally:
            await process.kill()


async def _measure(
    load: Load, upstream: FaultyServer, fault: str, share: float, options: argparse.Namespace
) -> Found:
    upstream.fault, upstream.share = HEALTHY, 1.0
    await load.run(options.seconds / 3, options.rate)
    before = percentile(load.other_seconds, 0.99)
    failures = [f"healthy: {dict(load.answers)}"] if set(load.answers) != {"ok"} else []
    upstream.fault, upstream.share, upstream.requests = FAULTS[fault], share, 0
    await load.run(options.seconds, options.rate)
    calls = sum(load.answers.values())
    found = Found(
        fault=fault,
        share=share,
        calls=calls,
        requests=upstream.requests,
        answers=dict(load.answers.most_common()),
        refused_after_seconds=load.refused_after,
        other_p99_ms=round(percentile(load.other_seconds, 0.99) * 1000, 1),
        other_p99_before_ms=round(before * 1000, 1),
        failures=failures,
    )
    found.failures += [f"{fault} {share:g}: {each}" for each in _wrong(found, load)]
    return found


def _wrong(found: Found, load: Load) -> list[str]:
    wrong = []
    if found.requests > (1 + _RETRY_SHARE) * found.calls + _FREE_RETRIES:
        wrong.append(f"{found.requests} requests for {found.calls} calls")
    if others := set(found.answers) - {"ok", "not-sent", *_MAY_END[found.fault]}:
        wrong.append(f"answers {sorted(others)}")
    if load.other_failures:
        wrong.append(f"{load.other_failures} calls of the other tool failed")
    if found.fault in _FLAT and found.share == 1 and found.refused_after_seconds is None:
        wrong.append("the breaker did not open")
    return wrong


def _table(found: Sequence[Found]) -> list[str]:
    lines = ["fault      share  calls  requests  per call  refused after  other p99 ms  answers"]
    for each in found:
        after = each.refused_after_seconds
        refused = "-" if after is None else f"{after:.2f} s"
        p99 = f"{each.other_p99_before_ms:g} > {each.other_p99_ms:g}"
        answers = ", ".join(f"{count} {name}" for name, count in each.answers.items())
        lines.append(
            f"{each.fault:<10} {each.share:>5g} {each.calls:>6} {each.requests:>9} "
            f"{each.ratio:>9.2f} {refused:>14} {p99:>13}  {answers}"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
