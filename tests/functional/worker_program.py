"""A worker in its own process, whose messages say what becomes of it.

Each message that is processed leaves one audit record, so that a count of them shows what was
done twice. Says `ready`, and on SIGTERM how many late outcomes the store has refused.

A worker that must not lose what it holds has long leases, however slow the machine is. One that is
about to die has short ones (`LEASE`), so that another one takes over soon.

The processes are forked from one that has loaded the code, which takes longer than most tests.
"""

import asyncio
import importlib
import os
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import uuid4

import sqlalchemy.dialects.postgresql.asyncpg
import sqlalchemy.dialects.sqlite.aiosqlite  # noqa: F401 - loaded before the fork, as the one above
from msgspec.structs import replace

from gateway import failpoints
from gateway.clock import SystemClock
from gateway.contract.values import jsontext
from gateway.job_policy import WORK_POLICY
from gateway.jobs.dead_letters import DeadLetters
from gateway.jobs.outcome import Finished
from gateway.jobs.worker import Worker
from gateway.store.records import AuditRecord, Changes
from gateway.store.sql.engine import open_store

LEASE = "GATEWAY_TESTS_LEASE_SECONDS"
TIMEOUT = "GATEWAY_TESTS_TIMEOUT_SECONDS"
CLOCK = SystemClock()
MEMORY = 3 * 2**30


def record(webhook_id, name):
    return AuditRecord(
        id=uuid4().hex,
        at=CLOCK.now(),
        request_id=webhook_id,
        transport="webhook",
        operation=name,
        subject=None,
        agent=None,
        outcome="ok",
        stage=None,
        status=200,
        backend=None,
        duration_ms=0.0,
        arguments=None,
    )


def policy():
    rows = WORK_POLICY.in_each_row(
        lease_seconds=float(os.environ.get(LEASE, "60")),
        timeout_seconds=float(os.environ.get(TIMEOUT, "300")),
        waits_seconds=(0.1,),
    )
    return replace(rows, size=1, sweep_seconds=0.2, poll_seconds=0.05, grace_seconds=300)


def is_there(path):
    return Path(path).exists()


def note_begun(held, path, name):
    """Let the test know that this worker holds the order, and has not only claimed it."""
    if held == name and Path(path).parent.is_dir():
        with Path(f"{path}.begun").open("a", encoding="utf-8") as begun:
            begun.write(".")


async def behave(order, name):
    match order:
        case {"held_by": held, "until": path}:
            note_begun(held, path, name)
            while held == name and not is_there(path):  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        case {"poison": "raise"}:
            raise ValueError("secret-payload")
        case {"poison": "hang"}:
            await asyncio.Event().wait()
        case {"poison": "exit"}:
            os._exit(1)
        case {"poison": "system-exit"}:
            sys.exit(1)
        case {"poison": "allocate"}:
            bytearray(MEMORY)


async def serve(url, name, said):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    store = await open_store(url, clock=CLOCK)

    async def run(claim):
        webhook = await store.inbox.find(claim.job.subject)
        await behave(jsontext.decode(webhook.body), name)
        return Finished(changes=Changes(audit=record(webhook.id, name)))

    worker = Worker(
        store.queue,
        {"webhook": run},
        name=name,
        on_dead=DeadLetters(CLOCK.now),
        on_settled=lambda changes: None,
        policy=policy(),
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    said.send("ready")
    await worker.work()
    said.send(f"fenced {worker.fenced} lost {worker.lost}")
    await store.close()


def main(url: str, name: str, said: Connection, log: str, environment: dict[str, str]) -> None:
    """Work in a new process until SIGTERM. Standard error goes to the file `log`."""
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT, 0o600), 2)
    os.environ.update(environment)
    importlib.reload(failpoints)  # it has already read the environment
    asyncio.run(serve(url, name, said))
