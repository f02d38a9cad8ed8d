"""A body is read within its time, and without a timer where all of it is there."""

import asyncio

import pytest

from gateway.transports.errors import RequestTooSlow
from gateway.transports.http.asgi import Message, Scope
from gateway.transports.http.bodies import RequestBody, note_arrival
from gateway.transports.http.senders import Sender

ALL_OF_IT = {"type": "http.request", "body": b"{}", "more_body": False}


def body_of(scope: Scope, waits: list[asyncio.Event]) -> RequestBody:
    """A body that comes once the `waits` are over, and has no time at all."""

    async def receive() -> Message:
        for event in waits:
            await event.wait()
        return ALL_OF_IT

    return RequestBody(scope, Sender(None), receive, max_bytes=100, deadline_seconds=0.0)


async def test_a_body_that_is_late_is_refused() -> None:
    with pytest.raises(RequestTooSlow):
        await body_of({"headers": []}, [asyncio.Event()]).receive()


async def test_no_timer_is_set_for_a_body_that_is_there(monkeypatch) -> None:
    scope: Scope = {"headers": []}
    note_arrival(scope)
    monkeypatch.delattr(asyncio, "timeout_at")

    assert await body_of(scope, []).receive() == ALL_OF_IT
