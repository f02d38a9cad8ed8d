"""From the log to the subscribers, on every engine."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.events.endpoints import EndpointRegistry
from gateway.job_policy import WORK_POLICY
from gateway.store.records import NewEvent, Page
from gateway.store.sql.engine import open_store
from tests.delivering import HERE, delivering
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import answer, is_signed, receiver
from tests.unit.events.shelf import KEYRING

QUOTE, TRIP, DISABLED = (
    f"gateway.{what}.v1" for what in ("quote.received", "trip.created", "endpoint.disabled")
)


@pytest.fixture(autouse=True)
def _retried_later(monkeypatch):
    """However slow the machine is, nothing is tried again while a test looks."""

    def later(_policy, job):
        return None if job.attempts >= job.max_attempts else 3600.0

    monkeypatch.setattr("gateway.jobs.worker.wait_seconds", later)


def book_of(store, sender):
    published = {name: {} for name in (QUOTE, TRIP, DISABLED)}
    return EndpointRegistry(store.endpoints, KEYRING, sender, SystemClock(), published)


@pytest.fixture
async def sender():
    opened = Outbound(HERE.refusal)
    yield opened
    await opened.close()


@pytest.fixture
def book(store, sender):
    return book_of(store, sender)


def events(count, kind=QUOTE):
    return [
        NewEvent(id=str(uuid4()), type=kind, subject=f"s{n}", source="/webhooks/a", data={"n": n})
        for n in range(count)
    ]


async def until(condition):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await condition():  # noqa: ASYNC110 - the store is polled, it does not notify
            await asyncio.sleep(0.01)


async def states(store, endpoint_id):
    found = await store.endpoints.deliveries(endpoint_id, Page(limit=1000))
    return Counter(each.job.state for each in found)


def ids(got):
    return [request.headers["webhook-id"] for request in got]


async def test_each_event_reaches_each_endpoint_that_wants_it_once(store, book):
    published = [*events(6), *events(4, TRIP)]
    async with receiver() as (first, all_of_them), receiver() as (second, trips):
        every = await book.add(f"http://127.0.0.1:{first}/")
        some = await book.add(f"http://127.0.0.1:{second}/", event_types=["gateway.trip.*"])
        await store.events.append(published)
        async with delivering(store):

            async def _done():
                found = [await states(store, each.endpoint.id) for each in (every, some)]
                return found == [{"completed": 10}, {"completed": 4}]

            await until(_done)
    assert sorted(ids(all_of_them)) == sorted(event.id for event in published)
    assert sorted(ids(trips)) == sorted(event.id for event in published[6:])
    assert all(is_signed(request, every.secret) for request in all_of_them)
    assert all(is_signed(request, some.secret) for request in trips)


async def test_an_endpoint_that_is_gone_is_disabled_and_the_others_hear_of_it(store, book):
    async with (
        receiver(answer(410)) as (first, refused),
        receiver() as (second, heard),
        receiver() as (third, _),
    ):
        gone = await book.add(f"http://127.0.0.1:{first}/", event_types=[QUOTE])
        other = await book.add(f"http://127.0.0.1:{second}/", event_types=[DISABLED])
        await store.events.append(events(1))
        async with delivering(store):

            async def _reported():
                return await states(store, other.endpoint.id) == {"completed": 1}

            await until(_reported)
            # What comes afterwards goes to others, and not to the one that is gone.
            later = await book.add(f"http://127.0.0.1:{third}/", event_types=[QUOTE])
            await store.events.append(events(3))

            async def _delivered():
                return await states(store, later.endpoint.id) == {"completed": 3}

            await until(_delivered)
    kept = await book.find(gone.endpoint.id)
    assert (kept.state, kept.disabled_because) == ("disabled", "gone")
    assert len(refused) == 1, "nothing more is sent to it"
    assert await states(store, gone.endpoint.id) == {"dead_letter": 1}
    assert len(heard) == 1


async def test_a_failure_is_remembered_until_the_next_success(store, book):
    statuses = iter([503, 204])

    async def _answer(request, writer):
        await answer(next(statuses))(request, writer)

    async with receiver(_answer) as (port, _):
        endpoint_id = (await book.add(f"http://127.0.0.1:{port}/")).endpoint.id
        async with delivering(store):
            await store.events.append(events(1))

            async def _failed():
                return await states(store, endpoint_id) == {"retryable": 1}

            await until(_failed)
            assert (await book.find(endpoint_id)).failing_since is not None
            await store.events.append(events(1))

            async def _both():
                return await states(store, endpoint_id) == {"retryable": 1, "completed": 1}

            await until(_both)
    assert (await book.find(endpoint_id)).failing_since is None


async def test_after_five_days_of_failure_an_endpoint_is_disabled(store, book):
    async with receiver(answer(500)) as (port, _):
        new = await book.add(f"http://127.0.0.1:{port}/", event_types=[QUOTE])
        since = new.endpoint.created_at - timedelta(days=5)
        await store.endpoints.change(new.endpoint.id, {"failing_since": since})
        await store.events.append(events(1))
        async with delivering(store):

            async def _disabled():
                return (await book.find(new.endpoint.id)).state == "disabled"

            await until(_disabled)
    assert (await book.find(new.endpoint.id)).disabled_because == "failing"
    assert await states(store, new.endpoint.id) == {"dead_letter": 1}


@pytest.fixture
async def one_attempt(store_url):
    """A store whose deliveries have one attempt."""
    opened = await open_store(store_url, policy=WORK_POLICY.in_each_row(attempts=1))
    yield opened
    await opened.close()


async def test_a_dead_letter_is_redriven_as_the_same_message(one_attempt, sender):
    store, book = one_attempt, book_of(one_attempt, sender)
    statuses = iter([400, 204])

    async def _answer(request, writer):
        await answer(next(statuses))(request, writer)

    async with receiver(_answer) as (port, got):
        endpoint_id = (await book.add(f"http://127.0.0.1:{port}/")).endpoint.id
        await store.events.append(events(1))
        async with delivering(store):

            async def _dead():
                return await states(store, endpoint_id) == {"dead_letter": 1}

            await until(_dead)
            (dead,) = await store.endpoints.deliveries(endpoint_id, Page())
            (attempt,) = await store.queue.attempts(dead.job.id)
            assert (attempt.error, attempt.detail) == ("endpoint_refuses", "HTTP 400")
            again = await store.queue.redrive(dead.job.id, "ada")
            assert again.replay_of == dead.job.id

            async def _done():
                return await states(store, endpoint_id) == {"completed": 1}

            await until(_done)
    first, second = got
    assert ids([first]) == ids([second])
    assert first.body == second.body
    assert (await store.queue.find(dead.job.id)).state == "dead_letter", "history stays"


async def test_disabling_cancels_what_waits_and_it_can_be_redriven_after_enabling(store, book):
    async with receiver() as (port, got), receiver() as (second, _):
        new = await book.add(f"http://127.0.0.1:{port}/")
        await store.events.append(events(3))
        await store.events.sequence(100)
        await book.disable(new.endpoint.id)
        assert await states(store, new.endpoint.id) == {"cancelled": 3}
        other = await book.add(f"http://127.0.0.1:{second}/")
        await store.events.append(events(1))
        async with delivering(store):

            async def _others():
                return await states(store, other.endpoint.id) == {"completed": 1}

            await until(_others)
            assert got == []
            await book.enable(new.endpoint.id)
            for each in await store.endpoints.deliveries(new.endpoint.id, Page()):
                assert await store.queue.redrive(each.job.id, "ada")

            async def _done():
                return await states(store, new.endpoint.id) == {"completed": 3}

            await until(_done)
    assert len(got) == 3


async def test_an_endpoint_that_is_gone_has_nothing_waiting_any_more(store, book):
    statuses = iter([503, 410])

    async def _answer(request, writer):
        await answer(next(statuses))(request, writer)

    async with receiver(_answer) as (port, _):
        new = await book.add(f"http://127.0.0.1:{port}/", event_types=[QUOTE])
        async with delivering(store):
            for expected in ({"retryable": 1}, {"dead_letter": 2}):
                await store.events.append(events(1))

                async def _is_so(expected=expected):
                    return await states(store, new.endpoint.id) == expected

                await until(_is_so)
    found = await store.endpoints.deliveries(new.endpoint.id, Page())
    assert {each.job.error for each in found} == {"endpoint_gone", "endpoint_disabled"}


async def test_a_partner_who_does_not_answer_holds_nobody_up(store, book):
    """R13, by what waits for what: eight wait for one who is silent, four others get theirs."""
    released = asyncio.Event()

    async def _silent(request, writer):
        await released.wait()
        await answer()(request, writer)

    async with AsyncExitStack() as stack:
        slow, held = await stack.enter_async_context(receiver(_silent))
        await book.add(f"http://127.0.0.1:{slow}/")
        others = [await stack.enter_async_context(receiver()) for _ in range(4)]
        for port, _ in others:
            await book.add(f"http://127.0.0.1:{port}/")
        await store.events.append(events(8))
        async with delivering(store):

            async def _all():
                return all(len(got) == 8 for _, got in others)

            await until(_all)
            assert 0 < len(held) <= 4, "it takes its share of the worker, and no more"
            released.set()


async def test_of_rotations_at_once_each_secret_that_is_reported_follows_another(store, book):
    added = await book.add("http://127.0.0.1:1/")
    reported = await asyncio.gather(*(book.rotate(added.endpoint.id) for _ in range(8)))
    kept = await book.find(added.endpoint.id)
    opened = [KEYRING.open(text, kept.id) for text in (kept.secret, kept.previous_secret)]
    assert set(opened) <= {each.secret for each in reported}
    sealed = [added.endpoint.secret, *(each.endpoint.secret for each in reported)]
    followed = {each.endpoint.previous_secret for each in reported}
    assert followed == set(sealed) - {kept.secret}


async def test_sealing_again_does_not_undo_a_rotation(store, book, monkeypatch):
    added = await book.add("http://127.0.0.1:1/")
    stale = [await book.find(added.endpoint.id)]
    rotated = await book.rotate(added.endpoint.id)

    async def found_before():
        return stale

    monkeypatch.setattr(store.endpoints, "all", found_before)
    monkeypatch.setattr(KEYRING, "is_newest", lambda _: False)
    assert await book.reseal() == 0
    kept = await book.find(added.endpoint.id)
    assert KEYRING.open(kept.secret, kept.id) == rotated.secret
