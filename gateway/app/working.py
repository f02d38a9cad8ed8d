"""Runs the background work for as long as the gateway serves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.app.announcement import announce_contract
from gateway.app.background import Task, run_to_end, running
from gateway.app.composition import Components
from gateway.jobs.worker import Worker
from gateway.settings import Settings


@asynccontextmanager
async def at_work(parts: Components, settings: Settings, url: str | None) -> AsyncIterator[None]:
    """Run the background work for webhooks and events until the block ends.

    Mocks send their webhooks to the gateway at `url`, if it is given and the clock of mocks does
    not stand still (`mock_speed` 0).
    """
    work = parts.work
    tasks: dict[str, Task] = {
        "sequencer": work.sequencer.run,
        "feed": work.feed.run,
        "retention": work.cleaner.work,
        "cut-off calls": work.cut_off_calls.work,
    }
    if work.lookout is not None:
        tasks["lookout"] = work.lookout.run
    senders = parts.mock_senders(url) if url and settings.mock_speed else ()
    for number, sender in enumerate(senders):
        tasks[f"mock sender {number}"] = sender.run
    # After this, the operator can remove replaced keys from the settings.
    await work.endpoint_registry.reseal()
    digest = await asyncio.to_thread(lambda: parts.catalogue.openapi_sha256)
    await announce_contract(parts.store.events, digest)
    async with running(tasks):
        if not settings.workers:
            yield
            return
        async with _working(work.worker):
            yield


@asynccontextmanager
async def following(parts: Components) -> AsyncIterator[None]:
    """Read the events that other processes publish, for followers in this process."""
    async with running({"feed": parts.work.feed.run}):
        yield


@asynccontextmanager
async def _working(worker: Worker) -> AsyncIterator[None]:
    """Run the worker. It is stopped and not cancelled, so that running jobs have a grace period."""
    task = asyncio.create_task(run_to_end("worker", worker.work), name="worker")
    try:
        yield
    finally:
        worker.stop()
        await task
