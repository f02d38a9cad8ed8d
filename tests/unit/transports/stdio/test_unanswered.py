"""The end of a host's input waits for the answers that it is owed, and not for ever."""

import asyncio

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from gateway.transports.mcp.server import ShieldedCalls
from gateway.transports.stdio import server
from gateway.transports.stdio.server import Unanswered

REFUSED = {"code": -32600, "message": "Invalid request"}


async def incoming(*messages):
    """What the SDK reads: messages, and errors in between."""
    yield ValueError("no message")
    for message in messages:
        yield SessionMessage(message)


def request(request_id):
    return JSONRPCRequest(jsonrpc="2.0", id=request_id, method="tools/call")


def cancelled(request_id):
    params = {"requestId": request_id}
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)


def result(request_id):
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result={})


@pytest.fixture
async def reading():
    """Starts reading these messages to the end."""
    tasks = []

    async def _start(waiting, *messages):
        async def read():
            return [item async for item in waiting.reading(incoming(*messages))]

        tasks.append(asyncio.create_task(read()))
        for _ in range(5):
            await asyncio.sleep(0)
        return tasks[-1]

    yield _start
    for task in tasks:
        task.cancel()


async def test_the_end_comes_at_once_when_nothing_is_owed(reading):
    assert len((await reading(Unanswered(ShieldedCalls()))).result()) == 1


@pytest.mark.parametrize(
    "answer", [result(1), JSONRPCError(jsonrpc="2.0", id=1, error=REFUSED)], ids=["result", "error"]
)
async def test_the_end_waits_for_the_answer(reading, answer):
    waiting = Unanswered(ShieldedCalls())
    task = await reading(waiting, request(1))
    waiting.note_sent(JSONRPCError(jsonrpc="2.0", id=None, error=REFUSED))
    waiting.note_sent(result(2))
    await asyncio.sleep(0)
    assert not task.done()
    waiting.note_sent(answer)
    assert len(await task) == 2


async def test_an_id_that_is_used_twice_is_owed_two_answers(reading):
    waiting = Unanswered(ShieldedCalls())
    task = await reading(waiting, request(1), request(1))
    waiting.note_sent(result(1))
    await asyncio.sleep(0)
    assert not task.done()
    waiting.note_sent(result(1))
    await task


@pytest.mark.parametrize("name", [7, "7"])
async def test_what_is_called_off_is_not_owed(reading, name):
    """The SDK takes a number and its digits for the same id."""
    await (await reading(Unanswered(ShieldedCalls()), request(7), cancelled(name)))


async def test_the_end_comes_in_the_end(reading, monkeypatch):
    monkeypatch.setattr(server, "LAST_ANSWERS_SECONDS", 0.01)
    assert len(await (await reading(Unanswered(ShieldedCalls()), request(1)))) == 2
