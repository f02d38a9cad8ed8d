"""The outermost layer, without a server in front of it."""

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.clock import SystemClock
from gateway.errors import PayloadTooLarge
from gateway.transports.errors import RequestTooSlow
from gateway.transports.http.asgi import ClientGone, read_body, request_id_of, respond
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from tests.unit.tables import each_of

RULES = EdgeRules(
    hosts=HostRules(["gateway.test"]), max_body_bytes=10, body_deadline_seconds=0.05, max_headers=5
)


def scope_with(*headers: tuple[bytes, bytes], **changes: Any) -> dict[str, Any]:
    """An ASGI scope of a plain GET."""
    fields = [(b"host", b"gateway.test"), *headers]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/",
        "headers": fields,
        **changes,
    }


async def serve(
    app: Any, scope: dict[str, Any], *messages: Any, rules: EdgeRules = RULES
) -> list[Any]:
    """What the edge in front of `app` sends for `scope`; `messages` arrive, then nothing."""
    queue = list(messages) or [{"type": "http.request", "body": b"", "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return queue.pop(0) if queue else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await Edge(app, rules)(scope, receive, send)
    return sent


def part(body: bytes, *, more: bool = True) -> dict[str, Any]:
    """One piece of a request body."""
    return {"type": "http.request", "body": body, "more_body": more}


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the body."""
    await respond(send, 200, await read_body(receive))


async def test_large_answers_are_sent_in_pieces_and_hosts_take_turns() -> None:
    """One large write holds the event loop, and a client that does not read holds all of it."""
    body = bytes(range(256)) * 1000
    sent: list[tuple[str, Any]] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, 200, body)

    edge = Edge(answer, RULES)

    async def ask(host: str) -> None:
        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                sent.append((host, message))

        await edge(scope_with(client=(host, 1)), asyncio.Event().wait, send)

    hosts = ["10.0.0.1", "10.0.0.1", "10.0.0.2"]
    await asyncio.gather(*map(ask, hosts))
    one, other = "10.0.0.1", "10.0.0.2"
    assert [host for host, _ in sent] == [one, other] * 4 + [one] * 4
    pieces = [message for host, message in sent if host == other]
    assert b"".join(each["body"] for each in pieces) == body
    assert max(len(each["body"]) for each in pieces) <= 65_536
    assert [each.get("more_body", False) for each in pieces] == [True, True, True, False]


async def test_a_body_arrives_whole_however_it_is_cut() -> None:
    sent = await serve(echo, scope_with(), part(b"ab"), part(b""), part(b"cd", more=False))
    assert sent[1]["body"] == b"abcd"


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([part(b"12345678"), part(b"901")], PayloadTooLarge),
        ([part(b"12345678901", more=False)], PayloadTooLarge),
        ([part(b"1")], RequestTooSlow),
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


async def test_a_long_request_target_counts_as_headers_do() -> None:
    half = b"a" * (RULES.max_header_bytes // 2)
    sent = await serve(echo, scope_with(raw_path=b"/" + half, query_string=half))
    assert sent[0]["status"] == 431


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"chunked, chunked", b"gzip", b""])
async def test_a_body_is_transferred_in_chunks_and_in_no_other_coding(coding: bytes) -> None:
    sent = await serve(echo, scope_with((b"transfer-encoding", coding)))
    assert sent[0]["status"] == 400


CODING = (b"transfer-encoding", b"chunked")
LENGTH = (b"content-length", b"1")


@each_of(
    "headers",
    [
        [CODING, CODING],
        [LENGTH, LENGTH],
        [CODING, LENGTH, *[(b"x", b"y")] * 5],
        [CODING, CODING, *[(b"x", b"y")] * 5],
        [(b"host", b"gateway.test"), CODING, LENGTH],
        [(b"host", b"gateway.test"), LENGTH, LENGTH],
        [(b"host", b"elsewhere.test"), CODING, LENGTH],
    ],
)
async def test_where_a_request_ends_is_judged_before_all_else(headers: Any) -> None:
    """After any other refusal the server goes on reading, from a place that is not sure."""
    sent = await serve(echo, scope_with(*headers, method="POST"))
    assert sent[0]["status"] == 400
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_chunks_are_chunks_in_any_case() -> None:
    sent = await serve(echo, scope_with((b"transfer-encoding", b"Chunked"), method="POST"))
    assert sent[0]["status"] == 200


async def method(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the method."""
    await respond(send, 200, scope["method"].encode())


async def test_head_of_a_page_is_served_as_get_and_answered_without_the_body() -> None:
    scope = scope_with(method="HEAD", path="/docs")
    start, body = await serve(method, scope)
    assert (b"content-length", b"3") in start["headers"]
    assert body["body"] == b""
    assert scope["method"] == "HEAD"


@pytest.mark.parametrize("path", ["/v1/example/greet", "/mcp", "/mcp/example"])
async def test_head_of_a_transport_reaches_it_as_it_is(path: str) -> None:
    start, body = await serve(method, scope_with(method="HEAD", path=path))
    assert (b"content-length", b"4") in start["headers"]
    assert body["body"] == b""


async def cancelled(app: Any, path: str, rules: EdgeRules = RULES) -> list[Any]:
    """What the edge in front of `app` sends when the server gives up on a request for `path`."""
    request = asyncio.create_task(serve(app, scope_with(path=path), rules=rules))
    await asyncio.sleep(0)
    request.cancel()
    return await request


@pytest.mark.parametrize(
    ("path", "is_retryable"), [("/v1/example/greet", False), ("/mcp", False), ("/readyz", True)]
)
async def test_a_request_that_is_cut_off_is_informed_that_the_gateway_stops(
    path: str, is_retryable: bool
) -> None:
    """A call whose arguments were read may have happened, so it must not be repeated unseen."""

    async def hang(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await asyncio.Event().wait()

    start, body = await cancelled(hang, path)
    problem = json.loads(body["body"])
    assert (start["status"], problem["code"]) == (503, "STOPPING")
    assert problem["detail"].startswith("The gateway is stopping.")
    assert problem["retryable"] is is_retryable


async def test_a_call_that_is_cut_off_before_it_is_read_may_be_repeated() -> None:
    async def hang(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    _, body = await cancelled(hang, "/v1/example/greet")
    assert json.loads(body["body"])["retryable"] is True


async def test_a_refusal_that_is_cut_off_before_it_is_sent_is_informed_that_the_gateway_stops() -> (
    None
):
    """Refusals beyond the limit of unauthenticated clients are slow; the server need not wait for
    them."""
    waiting = ThrottleLimits(of_one_host=Rate(1e-9, 1), delay_seconds=600)
    throttle = Throttle(SystemClock(), waiting)
    await throttle.count(None)

    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, 404, b"")

    rules = replace(RULES, throttle=throttle)
    start, _ = await cancelled(refuse, "/v1/nothing", rules)
    assert start["status"] == 503


async def test_an_answer_that_is_cut_off_gets_nothing_in_its_middle() -> None:
    async def hang(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    (start,) = await cancelled(hang, "/mcp")
    assert start["status"] == 200


async def test_a_websocket_is_closed() -> None:
    sent = await serve(echo, {"type": "websocket", "headers": []})
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_the_lifespan_passes_through() -> None:
    passed: list[str] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    await serve(note, {"type": "lifespan"})
    assert passed == ["lifespan"]
