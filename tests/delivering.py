"""A worker that does nothing but deliver; as a program, one that can be killed.

python -m tests.delivering <database url> <seconds>
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network

from msgspec.structs import replace

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.events.address import AddressRules
from gateway.events.deliver import Deliver, DeliverySender
from gateway.events.feed import Sequencer, SequencerConfig
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.jobs.worker import Worker
from gateway.store.records import Changes
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.eventually import PATIENCE_SECONDS
from tests.unit.events.shelf import KEYRING

HERE = AddressRules([ip_network("127.0.0.0/8")])
PATIENT = replace(
    # As long as heartbeats allow: a loaded machine must not run a job again.
    WORK_POLICY.in_each_row(lease_seconds=180.0, timeout_seconds=PATIENCE_SECONDS),
    poll_seconds=0.02,
)
QUICK = replace(PATIENT.in_each_row(lease_seconds=1.0), sweep_seconds=0.1)


@asynccontextmanager
async def delivering(
    store: SqlStore, *, policy: WorkPolicy = PATIENT, timeout_seconds: float = PATIENCE_SECONDS
) -> AsyncIterator[None]:
    """Sequences and delivers what is in `store` for as long as the block runs."""
    outbound = Outbound(HERE.refusal, timeout_seconds=timeout_seconds)
    worker = Worker(
        store.queue,
        {"delivery": Deliver(store.endpoints, DeliverySender(outbound, KEYRING, SystemClock()))},
        name="w",
        on_dead=lambda _job, _failure: Changes(),
        on_settled=lambda _changes: sequencer.wake(),
        policy=policy,
    )
    sequencer = Sequencer(store.events, worker.wake, SequencerConfig(poll_seconds=0.02))
    tasks = [asyncio.create_task(worker.work()), asyncio.create_task(sequencer.run())]
    try:
        yield
    finally:
        worker.stop()
        await tasks[0]
        tasks[1].cancel()
        await asyncio.wait(tasks)
        await outbound.close()


async def _run(url: str, seconds: float) -> None:
    store = await open_store(url)
    async with delivering(store, policy=QUICK):
        await asyncio.sleep(seconds)
    await store.close()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], float(sys.argv[2])))
