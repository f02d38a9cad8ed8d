"""Notifications of progress: their numbers grow, and none comes too early or after the answer."""

import asyncio
from contextlib import suppress

import pytest

from gateway.transports.mcp.reporting import ProgressReports
from tests.eventually import PATIENCE_SECONDS


class Client:
    """Receives notifications."""

    def __init__(self):
        self.received = []
        self.arrived = asyncio.Event()

    async def send(self, done, message, total=None):
        self.received.append((done, message) if total is None else (done, message, total))
        self.arrived.set()


async def test_what_is_reported_is_sent_while_the_call_is_under_way():
    client = Client()
    async with ProgressReports(client.send, pause_seconds=0.0) as reports:
        reports.report(1, "one")
        await asyncio.wait_for(client.arrived.wait(), PATIENCE_SECONDS)
        assert client.received == [(1, "one")]


async def test_between_two_notifications_only_the_newest_number_is_kept():
    client = Client()
    async with ProgressReports(client.send, pause_seconds=3600.0) as reports:
        reports.report(1, "one")
        await asyncio.wait_for(client.arrived.wait(), PATIENCE_SECONDS)
        for number in range(2, 1000):
            reports.report(number, str(number))
            await asyncio.sleep(0)
    assert client.received == [(1, "one"), (999, "999")]


async def test_a_notification_that_is_under_way_when_the_call_ends_is_finished():
    client = Client()
    begun, release = asyncio.Event(), asyncio.Event()

    async def send(done, message, total):
        begun.set()
        await release.wait()
        await client.send(done, message, total)

    async with ProgressReports(send) as reports:
        reports.report(1, "one")
        await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
        asyncio.get_running_loop().call_soon(release.set)
    assert client.received == [(1, "one")]


async def test_a_number_that_does_not_grow_is_not_sent():
    client = Client()
    async with ProgressReports(client.send) as reports:
        reports.report(2, "two")
        reports.report(2, "again")
        reports.report(1, "one")
    assert client.received == [(2, "two")]


async def test_nothing_is_sent_after_a_call_that_failed_or_without_a_report():
    client = Client()
    reports = ProgressReports(client.send)
    with suppress(ZeroDivisionError):
        async with reports:
            reports.report(1, "one")
            raise ZeroDivisionError
    async with ProgressReports(client.send):
        pass
    reports.report(2, "two")
    await asyncio.sleep(0)
    assert client.received == []


async def test_the_beginning_and_the_total_are_sent():
    client = Client()
    async with ProgressReports(client.send, pause_seconds=0.0) as reports:
        reports.report(0, "begun", 100.0)
        await asyncio.wait_for(client.arrived.wait(), PATIENCE_SECONDS)
    assert client.received == [(0, "begun", 100.0)]


async def reporting(client):
    async with ProgressReports(client, pause_seconds=0.0) as reports:
        reports.report(1, "one")
        await asyncio.sleep(0)
        reports.report(2, "two")
    return "the result"


async def others():
    """What is left to run besides the test, after a turn of the loop."""
    await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize("fails_at", [1, 2])
async def test_a_notification_that_fails_changes_no_result_and_leaves_no_task(fails_at):
    async def send(done, _message, _total):
        if done == fails_at:
            raise RuntimeError("the client is gone")

    assert await reporting(send) == "the result"
    assert await others() == set()


async def test_a_call_that_is_cancelled_in_its_last_notification_leaves_no_task():
    begun = asyncio.Event()

    async def send(_done, _message, _total):
        begun.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(reporting(send))
    await begun.wait()
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await others() == set()
