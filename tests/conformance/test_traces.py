"""One trace from a message through its job, its call and its event to a subscriber."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.events.deliver import Deliver, DeliverySender
from gateway.events.endpoints import EndpointRegistry
from gateway.events.feed import Sequencer, SequencerConfig
from gateway.jobs.outcome import Finished
from gateway.jobs.worker import Worker
from gateway.store.records import Changes, Mismatch, NewCall, NewEvent, Page
from gateway.trace_context import current_trace_id
from tests.delivering import HERE, PATIENT
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import arrived, receiver
from tests.unit.events.shelf import KEYRING
from tests.work import message

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
QUOTE = "gateway.quote.received.v1"


@pytest.fixture
async def sender():
    opened = Outbound(HERE.refusal)
    yield opened
    await opened.close()


@asynccontextmanager
async def working(store, sender, runs):
    """Works on what is in `store`, with a subscriber to `QUOTE`: what that has got so far."""
    deliver = Deliver(store.endpoints, DeliverySender(sender, KEYRING, SystemClock(), "ids"))
    worker = Worker(
        store.queue,
        {**runs, "delivery": deliver},
        name="w",
        on_dead=lambda _job, _failure: Changes(),
        on_settled=lambda _changes: sequencer.wake(),
        policy=PATIENT,
    )
    sequencer = Sequencer(store.events, worker.wake, SequencerConfig(poll_seconds=0.02))
    book = EndpointRegistry(store.endpoints, KEYRING, sender, SystemClock(), {QUOTE: {}})
    async with receiver() as (port, got):
        await book.add(f"http://127.0.0.1:{port}/", event_types=[QUOTE])
        tasks = [asyncio.create_task(worker.work()), asyncio.create_task(sequencer.run())]
        yield got
        worker.stop()
        await tasks[0]
        tasks[1].cancel()
        await asyncio.wait(tasks)


async def test_the_trace_of_a_message_reaches_its_call_and_its_subscriber(store, sender):
    seen = []

    async def process(claim):
        seen.append(("webhook", current_trace_id()))
        call = NewCall(id=f"c-{claim.job.id}", operation="a.b", arguments={}, lane="a.b")
        event = NewEvent(id=f"e-{claim.job.id}", type=QUOTE, subject="s", source="/", data={})
        return Finished(changes=Changes(calls=(call,), events=(event,)))

    async def make_call(_claim):
        seen.append(("call", current_trace_id()))
        return Finished(changes=Changes())

    await store.inbox.receive([replace(message(1), trace=PARENT), message(2)])
    async with working(store, sender, {"webhook": process, "call": make_call}) as got:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await arrived(got, 2)
            while len(seen) < 4:  # noqa: ASYNC110 - the list is filled by the worker
                await asyncio.sleep(0.01)
    expected = [(kind, trace) for kind in ("webhook", "call") for trace in (TRACE, None)]
    assert sorted(seen, key=str) == sorted(expected, key=str)
    assert sorted(each.headers.get("traceparent", "none") for each in got) == [PARENT, "none"]
    named = [json.loads(each.body).get("traceparent", "none") for each in got]
    assert named == [each.headers.get("traceparent", "none") for each in got]
    jobs = await store.queue.jobs(Page(100))
    assert sorted(str(each.trace) for each in jobs) == [PARENT] * 3 + ["None"] * 3


async def test_work_that_is_started_again_stays_in_its_trace(store):
    receipt = (await store.inbox.receive([replace(message(1), trace=PARENT)]))[0]
    (claimed,) = await store.queue.claim("w", ["webhook"], 1, 30)
    await store.queue.finish_all([(claimed, Changes())])
    again = await store.queue.redrive(receipt.webhook_id, "operator", force=True)
    assert again is not None
    assert again.trace == PARENT


async def test_what_a_quarantined_message_reports_belongs_to_its_trace(store):
    refused = replace(message(1), trace=PARENT, refusals=(Mismatch(pointer="/a", detail="b"),))
    await store.inbox.receive([refused])
    async with receiver() as (port, got):
        outbound = Outbound(HERE.refusal)
        book = EndpointRegistry(store.endpoints, KEYRING, outbound, SystemClock(), {})
        await book.add(f"http://127.0.0.1:{port}/")
        await store.events.sequence(10)
        await outbound.close()
        assert got == []
    (job,) = await store.queue.jobs(Page(10), kind="delivery")
    assert job.trace == PARENT
