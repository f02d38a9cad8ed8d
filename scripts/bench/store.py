"""Measure how fast the store receives, claims and completes jobs.

Example: `python scripts/bench/store.py [--json] [url]`. Each figure is for one process; a batch is
one durable transaction. Without a URL, it measures a new SQLite file. A PostgreSQL URL must name an
empty database.
"""

import argparse
import asyncio
import json
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from gateway.store.protocols import Store
from gateway.store.records import Changes, NewEvent, NewWebhook
from gateway.store.sql.engine import open_store

MESSAGES: Final = 10_000
BATCHES: Final = (1, 50, 500)
_BODY: Final = b'{"quote":"' + b"x" * 1000 + b'"}'


def message(name: str) -> NewWebhook:
    """A message of a kilobyte."""
    return NewWebhook(
        provider="avinode",
        profile="signed",
        message_id=name,
        event_type="quote_received",
        body=_BODY,
        headers={"user-agent": "bench"},
        contract="digest",
    )


async def receive(store: Store, batch: int) -> None:
    """Store one batch of new messages."""
    name = time.perf_counter_ns()
    await store.inbox.receive([message(f"{name}-{number}") for number in range(batch)])


async def work(store: Store, batch: int) -> None:
    """Claim a batch and complete it, each job with an event."""
    claims = await store.queue.claim("bench", ["webhook"], batch, 30)
    await store.queue.finish_all(
        [
            (
                claim,
                Changes(
                    events=(
                        NewEvent(
                            id=claim.job.id,
                            type="gateway.quote.received.v1",
                            subject=claim.job.subject,
                            source="/webhooks/avinode",
                            data={"quote_id": claim.job.id},
                        ),
                    )
                ),
            )
            for claim in claims
        ]
    )


async def measured(
    store: Store, step: Callable[[Store, int], Awaitable[None]], batch: int
) -> dict[str, float]:
    """Messages per second, and the duration of a transaction."""
    rounds = max(3, min(300, MESSAGES // 4 // batch))
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        await step(store, batch)
        times.append(time.perf_counter() - started)
    times.sort()
    return {
        "per_second": round(rounds * batch / sum(times)),
        "p50_ms": round(statistics.median(times) * 1000, 2),
        "p99_ms": round(times[min(rounds - 1, rounds * 99 // 100)] * 1000, 2),
    }


async def bench(url: str) -> dict[str, Any]:
    """All figures, by operation and batch size."""
    store = await open_store(url)
    figures: dict[str, Any] = {}
    try:
        for batch in BATCHES:
            figures[f"receive {batch}"] = await measured(store, receive, batch)
        for batch in BATCHES:
            figures[f"claim and finish {batch}"] = await measured(store, work, batch)
    finally:
        await store.close()
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", help="database to fill; its rows are not deleted")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(bench(asked.url or f"sqlite:///{folder}/gateway.db"))
    engine = "postgresql" if asked.url and asked.url.startswith("postgres") else "sqlite"
    facts = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "engine": engine if engine == "postgresql" else f"SQLite {sqlite3.sqlite_version}",
    }
    if asked.json:
        print(json.dumps({**facts, "figures": figures}, indent=2))
        return
    print(", ".join(facts.values()))
    for name, found in figures.items():
        print(f"{name:>22}: {found['per_second']:>7}/s, {found['p50_ms']:>8} ms p50", end="")
        print(f", {found['p99_ms']:>8} ms p99")


if __name__ == "__main__":
    main()
