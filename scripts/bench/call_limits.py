"""Measure what limits cost a call: microseconds of processor time, and of waiting.

Each row is a set of limits. A call enters and leaves its limits, and does nothing between. `alone`
are calls one after another, `together` are 20 at once. The cost of a call without limits is in the
first row. Requests are those to the store, for each call. The processor time of a PostgreSQL or
Redis server is not included.

    python scripts/bench/call_limits.py
    python scripts/bench/call_limits.py --store postgresql://postgres@127.0.0.1/bench --json
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import msgspec
from machine import description
from msgspec import Struct

from gateway.auth.principal import Credentials, Grant, Permit, Principal
from gateway.calls.call import Call
from gateway.clock import SystemClock
from gateway.contract.operation import Effect, Operation, PythonBinding
from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits
from gateway.limits.counting import CallLimits
from gateway.limits.standing import LimitReport
from gateway.store.redis import RedisUsage
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.engine import open_store
from gateway.store.usage import Decision, Demand, UsageStore

AT_ONCE: Final = 20
A_KEY: Final = 200
"""The calls of one key, so that an exact window is never used up."""
MANY: Final = 10_000_000
HOUR: Final = (CallWindow(max=MANY, seconds=3600),)
EXACT: Final = (CallWindow(max=256, seconds=3600),)
LIMITS: Final[dict[str, tuple[ToolLimits | None, AgentLimits]]] = {
    "none": (None, AgentLimits()),
    "hour": (ToolLimits(calls=HOUR), AgentLimits()),
    "hour, agent-hour, budget": (ToolLimits(calls=HOUR), AgentLimits(calls=HOUR, budget=MANY)),
    "and 100 at the same time": (
        ToolLimits(calls=HOUR, concurrent=100),
        AgentLimits(calls=HOUR, budget=MANY),
    ),
    "256 an hour, exactly": (ToolLimits(calls=EXACT), AgentLimits()),
}


class Cost(Struct, frozen=True):
    """The cost of a call."""

    limits: str
    mode: str
    processor_us: float
    wall_us: float
    requests: float


class Counted:
    """Counts the requests to a store."""

    def __init__(self, store: UsageStore) -> None:
        self.store = store
        self.requests = 0

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        self.requests += 1
        return await self.store.take(demands, holder)

    def __getattr__(self, name: str) -> Any:
        self.requests += name in {"give_back", "restore"}
        return getattr(self.store, name)


async def do_nothing(*_: object) -> dict[str, Any]:
    return {}


def operation(limits: ToolLimits | None) -> Operation:
    return Operation(
        id="bench.call",
        connector="bench",
        title="Call",
        description="A call.",
        effect=Effect.READ,
        timeout_seconds=10,
        errors=(),
        binding=PythonBinding(run=do_nothing),
        limits=limits,
        route="/v1/bench/call",
    )


def new_call() -> Call:
    return Call(
        operation_id="bench.call",
        credentials=Credentials(),
        arguments=b"{}",
        transport="rest",
        request_id="1",
        limits=LimitReport(),
    )


async def measured(store: Any, name: str, calls: int) -> list[Cost]:
    """The cost of calls with these limits."""
    tool, agent = LIMITS[name]
    entry: Any = SimpleNamespace(id="bench.call", operation=operation(tool))
    catalogue: Any = SimpleNamespace(limits={f"agent {name}": agent})
    counted = Counted(store)
    usage = ReservedUsage(counted, SystemClock())
    limits = CallLimits(usage, catalogue, SystemClock())
    made = 0

    async def call() -> None:
        nonlocal made
        key = made // A_KEY if tool is not None and tool.calls == EXACT else 0
        principal = Principal(subject=f"key_{key}", agent=f"agent {name}")
        made += 1
        async with limits.counted(Permit(Grant(principal, entry)), Effect.READ, new_call()):
            pass

    async def calls_of(count: int) -> None:
        for _ in range(count):
            await call()

    await calls_of(100)
    found = [
        await cost(name, "alone", calls, counted, lambda: calls_of(calls)),
        await cost(
            name,
            "together",
            calls,
            counted,
            lambda: asyncio.gather(*(calls_of(calls // AT_ONCE) for _ in range(AT_ONCE))),
        ),
    ]
    await usage.close()
    return found


async def cost(name: str, mode: str, calls: int, counted: Counted, work: Callable[[], Any]) -> Cost:
    requests, processor, wall = counted.requests, time.process_time(), time.perf_counter()
    await work()
    used, waited = time.process_time() - processor, time.perf_counter() - wall
    return Cost(
        name,
        mode,
        round(used / calls * 1e6, 1),
        round(waited / calls * 1e6, 1),
        round((counted.requests - requests) / calls, 3),
    )


async def _one_store() -> str:
    return "bench"


async def measure(url: str, calls: int) -> list[Cost]:
    async with AsyncExitStack() as stack:
        if url.startswith("redis"):
            store: Any = RedisUsage(url, _one_store)
            stack.push_async_callback(store.close)
        else:
            opened = await open_store(url)
            stack.push_async_callback(opened.close)
            store = opened.usage
        return [each for name in LIMITS for each in await measured(store, name, calls)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", help="a database or a Redis; a new SQLite file if left out")
    parser.add_argument("--calls", type=int, default=2000, help="calls of each row (2000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = chosen.store or f"sqlite:///{Path(folder) / 'limits.db'}"
        costs = asyncio.run(measure(url, chosen.calls))
    if chosen.json:
        report = {**description(), "costs": costs}
        sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
        return
    print(f"{'limits':28}{'mode':10}{'processor us':>14}{'wall us':>10}{'requests':>10}")
    for each in costs:
        print(
            f"{each.limits:28}{each.mode:10}{each.processor_us:14.1f}{each.wall_us:10.1f}"
            f"{each.requests:10.3f}"
        )


if __name__ == "__main__":
    main()
