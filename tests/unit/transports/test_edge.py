"""The outermost layer, without a server in front of it."""

import asyncio
from typing import Any

import pytest

from gateway.errors import PayloadTooLarge
from gateway.transports.asgi import ClientGone, read_body, request_id_of, respond
from gateway.transports.edge import Edge, EdgeRules
from gateway.transports.hosts import HostRules
from gateway.transports.problem_kinds import BodyTooSlow

RULES = EdgeRules(
    hosts=HostRules(["gateway.test"]), max_body_bytes=10, body_deadline_seconds=0.05, max_headers=5
)


def scope_with(*headers: tuple[bytes, bytes], **changes: Any) -> dict[str, Any]:
    """An ASGI scope of a plain GET."""
    fields = [(b"host", b"gateway.test"), *headers]
    return {"type": "http", "method": "GET", "path": "/", "headers": fields, **changes}


async def serve(app: Any, scope: dict[str, Any], *messages: Any) -> list[Any]:
    """What the edge in front of `app` sends for `scope`; `messages` arrive, then nothing."""
    queue = list(messages) or [{"type": "http.request", "body": b"", "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return queue.pop(0) if queue else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await Edge(app, RULES)(scope, receive, send)
    return sent


def part(body: bytes, *, more: bool = True) -> dict[str, Any]:
    """One piece of a request body."""
    return {"type": "http.request", "body": body, "more_body": more}


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the body."""
    await respond(send, 200, await read_body(receive))


async def test_a_body_arrives_whole_however_it_is_cut() -> None:
    sent = await serve(echo, scope_with(), part(b"ab"), part(b""), part(b"cd", more=False))
    assert sent[1]["body"] == b"abcd"


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([part(b"12345678"), part(b"901")], PayloadTooLarge),
        ([part(b"12345678901", more=False)], PayloadTooLarge),
        ([part(b"1")], BodyTooSlow),
        ([part(b"1"), {"type": "http.disconnect"}], ClientGone),
    ],
)
async def test_the_reader_of_a_bad_body_learns_what_is_wrong(
    messages: list[Any], error: type[Exception]
) -> None:
    caught: list[Exception] = []

    async def read(scope: Any, receive: Any, send: Any) -> None:
        try:
            await read_body(receive)
        except Exception as raised:
            caught.append(raised)
            raise

    await serve(read, scope_with(), *messages)
    assert [type(raised) for raised in caught] == [error]


async def test_the_deadline_is_for_the_body_and_not_for_the_answer() -> None:
    left = asyncio.Event()

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        watcher = asyncio.create_task(receive())
        await asyncio.wait([watcher], timeout=RULES.body_deadline_seconds * 2)
        assert not watcher.done()
        watcher.cancel()
        left.set()

    await serve(waiting, scope_with())
    assert left.is_set()


async def test_an_error_before_the_answer_becomes_a_problem_without_its_text() -> None:
    async def crash(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError("hunter2")

    sent = await serve(crash, scope_with())
    assert sent[0]["status"] == 500
    assert b"hunter2" not in sent[1]["body"]


async def test_an_error_within_the_answer_is_left_to_the_server() -> None:
    async def crash(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await serve(crash, scope_with())


async def test_the_answers_own_cache_rule_stands() -> None:
    async def cached(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, 200, b"", headers=[(b"cache-control", b"max-age=5")])

    sent = await serve(cached, scope_with())
    rules = [value for name, value in sent[0]["headers"] if name == b"cache-control"]
    assert rules == [b"max-age=5"]


async def test_the_layers_behind_see_clean_headers_and_the_request_id() -> None:
    seen: list[Any] = []

    async def look(scope: Any, receive: Any, send: Any) -> None:
        seen.extend([request_id_of(scope), *scope["headers"]])

    await serve(look, scope_with((b"x-request-id", b"id-1 "), (b"mcp-name", b" \tgreet ")))
    assert seen == [
        "id-1",
        (b"host", b"gateway.test"),
        (b"x-request-id", b"id-1"),
        (b"mcp-name", b"greet"),
    ]


async def test_too_many_headers_are_refused() -> None:
    sent = await serve(echo, scope_with(*[(b"x", b"y")] * 5))
    assert sent[0]["status"] == 431


async def test_a_websocket_is_closed() -> None:
    sent = await serve(echo, {"type": "websocket", "headers": []})
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_the_lifespan_passes_through() -> None:
    passed: list[str] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    await serve(note, {"type": "lifespan"})
    assert passed == ["lifespan"]
