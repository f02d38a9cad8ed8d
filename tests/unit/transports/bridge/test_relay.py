"""What the bridge does with each message, against a remote whose answers are written here."""

import asyncio
import re
from typing import Any

import pytest

from gateway.transports.bridge import serving as relay
from gateway.transports.bridge.serving import RelayedRequest
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.leaping import ShortSleeps
from tests.unit.tables import each_of
from tests.unit.transports.bridge.scripted import MODERN, Host, Request, talking

CALL = {"name": "greet", "arguments": {}}


async def echo(request: Request) -> None:
    """Answer with the message itself."""
    await request.result(request.body)


async def never(_: Request) -> None:
    await asyncio.Event().wait()


async def _seen(host: Host, method: str) -> Request:
    async def look() -> Request | None:
        return next((each for each in host.seen if each.body.get("method") == method), None)

    return await eventually(look)


async def test_a_request_is_passed_on_as_it_was_sent() -> None:
    params = {"name": "a", "_meta": {**MODERN["_meta"], "progressToken": 7, "x/own": [1.50, None]}}
    async with talking(echo) as host:
        host.say("tools/call", params, id="one")
        answer = await host.hear()
    assert answer["id"] == "one"
    assert answer["result"]["params"] == params


@each_of(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "greet"}, "greet"),
        ("tools/call", {"name": "grüße\r\n"}, "=?base64?Z3LDvMOfZQ0K?="),
        ("prompts/get", {"name": "plan"}, "plan"),
        ("resources/read", {"uri": "a://b"}, "a://b"),
        ("tasks/get", {"taskId": "t"}, "t"),
        ("tools/list", {"name": "greet"}, None),
        ("tools/call", {"name": 7}, None),
    ],
)
async def test_a_request_of_2026_has_the_headers_that_route_it(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    async with talking(echo) as host:
        host.say(method, params | MODERN, id=1)
        await host.hear()
    headers = host.seen[0].headers
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["mcp-method"] == method
    assert headers.get("mcp-name") == name
    assert headers["authorization"] == "Bearer key"
    assert "mcp-session-id" not in headers


async def test_a_handshake_decides_the_session_and_the_revision() -> None:
    async with talking(echo) as host:
        host.say("initialize", {"protocolVersion": "2024-11-05"}, id=0)
        assert (await host.hear())["result"] == {"protocolVersion": "2025-11-25"}
        host.say("tools/list", id=1)
        await host.hear()
    first, second = (each.headers for each in host.seen)
    assert "mcp-protocol-version" not in first
    assert (second["mcp-protocol-version"], second["mcp-session-id"]) == ("2025-11-25", "s")
    assert "mcp-method" not in second


async def test_messages_before_an_answer_are_passed_on_in_order() -> None:
    async def talk(request: Request) -> None:
        await request.stream()
        for number in range(3):
            await request.event({"jsonrpc": "2.0", "method": f"note/{number}"}, indent=2)
        await request.event({"jsonrpc": "2.0", "id": request.body["id"], "result": {}})
        await request.end()

    async with talking(talk) as host:
        host.say("tools/call", CALL | MODERN, id=1)
        heard = [await host.hear() for _ in range(4)]
    assert [each.get("method") for each in heard] == ["note/0", "note/1", "note/2", None]


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0",'])
async def test_what_is_no_message_is_not_passed_on(body: bytes) -> None:
    async def answer(request: Request) -> None:
        await request.answer(body)

    async with talking(answer) as host:
        host.say("tools/list", id=5)
        heard = await host.hear()
    assert (heard["id"], heard["error"]["code"]) == (5, -32603)
    assert "did not serve this" in heard["error"]["message"]


async def test_a_refusal_that_names_no_request_answers_the_one_it_refuses() -> None:
    async def refuse(request: Request) -> None:
        error = {"code": -32600, "message": "no", "data": {"status": 400}}
        await request.answer({"jsonrpc": "2.0", "id": None, "error": error}, status=400)

    async with talking(refuse) as host:
        host.say("tools/list", id=5)
        heard = await host.hear()
    assert heard["id"] == 5
    assert heard["error"] == {"code": -32600, "message": "no", "data": {"status": 400}}


@pytest.mark.parametrize(
    ("is_ended", "words"),
    [(True, "it ended its answer too early"), (False, "the connection to it was lost")],
)
async def test_an_answer_that_never_comes_is_an_error(words: str, *, is_ended: bool) -> None:
    async def end(request: Request) -> None:
        await request.stream()
        await request.event({"jsonrpc": "2.0", "method": "note"})
        if is_ended:
            await request.end()

    async with talking(end) as host:
        host.say("tools/call", CALL, id=1)
        assert (await host.hear())["method"] == "note"
        assert words in (await host.hear())["error"]["message"]


async def test_a_request_of_2026_is_cancelled_by_closing_its_connection() -> None:
    async with talking(never) as host:
        host.say("tools/call", CALL | MODERN, id=1)
        request = await _seen(host, "tools/call")
        host.say("notifications/cancelled", {"requestId": 1} | MODERN)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await request.is_gone.wait()
        host.write(b"{")
        assert (await host.hear())["id"] is None  # so there was no answer before
    assert len(host.seen) == 1


async def test_a_request_of_the_handshake_is_cancelled_by_the_notification() -> None:
    """Its outcome is not passed on, since the host has forgotten it."""
    cancelled = asyncio.Event()

    async def wait(request: Request) -> None:
        if request.body["method"] == "tools/call":
            await cancelled.wait()
        await request.result()

    async with talking(wait) as host:
        await host.begin()
        host.say("tools/call", CALL, id=1)
        call = await _seen(host, "tools/call")
        host.say("notifications/cancelled", {"requestId": 1})
        await _seen(host, "notifications/cancelled")
        cancelled.set()
        host.say("ping", id=2)
        assert (await host.hear())["id"] == 2
    assert not call.is_gone.is_set()


async def test_a_remote_that_is_too_slow_is_told_so() -> None:
    async with talking(never) as host:
        await host.begin()
        host.relay._answer_seconds = 0.05
        host.say("tools/call", CALL, id=9)
        heard = await host.hear()
        notified = await _seen(host, "notifications/cancelled")
    assert "it did not answer within 0.05 seconds" in heard["error"]["message"]
    assert notified.body["params"]["requestId"] == 9


async def test_the_time_in_which_a_host_is_asked_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed = []
    allow = RelayedRequest.allow

    def noting(relayed: RelayedRequest, seconds: float | None) -> None:
        allowed.append(seconds)
        allow(relayed, seconds)

    monkeypatch.setattr(RelayedRequest, "allow", noting)
    answered = asyncio.Event()

    async def ask(request: Request) -> None:
        await request.stream()
        await request.event({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create"})
        await answered.wait()
        await request.event({"jsonrpc": "2.0", "id": 1, "result": {}})
        await request.end()

    async with talking(ask, answer_seconds=PATIENCE_SECONDS) as host:
        host.say("tools/call", CALL, id=1)
        assert (await host.hear())["id"] == "q"
        assert allowed == [PATIENCE_SECONDS, None]
        host.write({"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}})

        async def replied() -> bool | None:
            return any("method" not in each.body for each in host.seen) or None

        await eventually(replied)
        answered.set()
        assert "result" in await host.hear()
    assert allowed == [PATIENCE_SECONDS, None, PATIENCE_SECONDS]


async def test_an_answer_for_a_request_that_has_just_ended_ends_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its task has ended, and what is to happen then has not happened yet."""
    monkeypatch.setattr(relay.Relay, "_end", lambda *_: None)

    async def ask(request: Request) -> None:
        if request.body.get("id") == 1:
            await request.stream()
            await request.event({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create"})
            await request.event({"jsonrpc": "2.0", "id": 1, "result": {}})
            await request.end()
        else:
            await request.result()

    async with talking(ask, answer_seconds=PATIENCE_SECONDS) as host:
        host.say("tools/call", CALL, id=1)
        assert (await host.hear())["id"] == "q"
        assert "result" in await host.hear()
        host.write({"jsonrpc": "2.0", "id": "q", "result": {"action": "decline"}})
        host.say("tools/list", {}, id=2)
        assert (await host.hear())["id"] == 2


async def test_a_subscription_lasts_longer_than_an_answer_may_take() -> None:
    others_are_late = asyncio.Event()

    async def listen(request: Request) -> None:
        await request.stream()
        await others_are_late.wait()
        await request.event({"jsonrpc": "2.0", "method": "notifications/resources/updated"})
        await asyncio.Event().wait()

    async def serve(request: Request) -> None:
        await (listen if request.body["method"] == "subscriptions/listen" else never)(request)

    async with talking(serve, answer_seconds=0.05) as host:
        host.say("subscriptions/listen", MODERN, id=1)
        await _seen(host, "subscriptions/listen")
        host.say("tools/call", CALL | MODERN, id=2)
        assert "it did not answer" in (await host.hear())["error"]["message"]
        others_are_late.set()
        assert (await host.hear())["method"] == "notifications/resources/updated"
    # The end of the input ends it too.
    assert host.seen[0].is_gone.is_set()


async def test_answers_are_awaited_at_the_end_of_the_input() -> None:
    async def slowly(request: Request) -> None:
        await host.has_ended.wait()
        await request.result()

    async with talking(slowly) as host:
        host.say("tools/call", CALL, id=1)
    assert (await host.hear())["id"] == 1


async def test_the_stream_of_a_session_is_followed_also_after_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "asyncio", ShortSleeps(0.01))

    async def speak(request: Request) -> None:
        if request.method == "GET":
            await request.stream()
            await request.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            await request.end()

    async with talking(speak) as host:
        await host.begin()
        for _ in range(2):
            assert (await host.hear())["method"] == "notifications/tools/list_changed"
    opened = [each.headers for each in host.seen if each.method == "GET"]
    assert {(each["accept"], each["mcp-session-id"]) for each in opened} == {
        ("text/event-stream", "s")
    }


async def test_a_remote_without_such_a_stream_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "asyncio", ShortSleeps(0))

    async def refuse(request: Request) -> None:
        if request.method == "GET":
            await request.answer(b"", status=405)
        else:
            await request.result()

    async with talking(refuse) as host:
        await host.begin()
        await _seen_get(host)
        for number in range(10):
            host.say("ping", id=number)
            await host.hear()
    assert len([each for each in host.seen if each.method == "GET"]) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 429, 503])
async def test_a_stream_that_is_refused_is_asked_for_again_when_the_remote_says(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    slept: list[float] = []

    class Sleeps(ShortSleeps):
        async def sleep(self, seconds: float) -> None:
            slept.append(seconds)
            await super().sleep(seconds)

    monkeypatch.setattr(relay, "asyncio", Sleeps(0))
    refused = iter([True, True, False])

    async def speak(request: Request) -> None:
        if request.method != "GET":
            await request.result()
        elif next(refused, False):
            await request.answer(b"", status=status, **{"retry-after": "70"})
        else:
            await request.stream()
            await request.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            await request.end()

    async with talking(speak) as host:
        await host.begin()
        assert (await host.hear())["method"] == "notifications/tools/list_changed"
    assert slept[:2] == [70, 70]


async def _seen_get(host: Host) -> Request:
    async def look() -> Request | None:
        return next((each for each in host.seen if each.method == "GET"), None)

    return await eventually(look)


async def test_headers_of_arguments_are_learned_from_a_refusal() -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string", "x-mcp-header": "Who"}}}
    pages = [
        {"tools": [{"name": "other"}], "nextCursor": "2"},
        {"tools": [{"name": "greet", "inputSchema": schema}]},
    ]

    async def serve(request: Request) -> None:
        if request.body["method"] == "tools/list":
            await request.result(pages["cursor" in request.body["params"]])
        elif request.headers.get("mcp-param-who") == "Ada":
            await request.result({"ok": True})
        else:
            error = {"code": -32020, "message": "mismatch"}
            await request.answer(
                {"jsonrpc": "2.0", "id": request.body["id"], "error": error}, status=400
            )

    async with talking(serve) as host:
        for number in range(2):
            arguments = {"name": "greet", "arguments": {"who": "Ada"}}
            host.say("tools/call", arguments | MODERN, id=number)
            assert (await host.hear())["result"] == {"ok": True}
        host.say("tools/call", {"name": "other", "arguments": {}} | MODERN, id=2)
        assert (await host.hear())["error"]["code"] == -32020
    methods = [each.body["method"] for each in host.seen]
    assert methods[:5] == ["tools/call", "tools/list", "tools/list", "tools/call", "tools/call"]


async def test_lines_that_are_no_messages_are_answered_and_the_next_ones_served() -> None:
    async with talking(echo) as host:
        for line in (
            b"{",
            b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}',
            b" ",
            b"[]",
            b"x" * 2000,
            b'{"jsonrpc":"2.0","id":3,"method":"a","params":{"x":"%b"}}' % (b"x" * 2000),
            b'{"jsonrpc":"2.0","id":4,"method":"a","params":{"x":"\\ud800"}}',
        ):
            host.write(line)
        heard = [await host.hear() for _ in range(6)]
        host.say("ping", id=7)
        assert (await host.hear())["id"] == 7
    assert [each["error"]["code"] for each in heard] == [-32700] + [-32600] * 5
    assert [each["id"] for each in heard] == [None, None, None, None, 3, 4]
    assert len(host.seen) == 1


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        (
            "application/problem+json",
            b'{"detail":"The request body is larger than 9 bytes."}',
            r"too large \(413\)\. The request body is larger than 9 bytes\.$",
        ),
        ("text/html", b"<p>413", r"too large \(413\)\.$"),
        ("application/problem+json", b"\xff", r"too large \(413\)\.$"),
    ],
)
async def test_a_message_that_is_too_large_for_the_remote_is_an_invalid_request(
    kind: str, body: bytes, words: str
) -> None:
    async def refuse(request: Request) -> None:
        await request.answer(body, 413, kind)

    async with talking(refuse) as host:
        host.say("tools/call", MODERN, id=1)
        heard = await host.hear()
    assert (heard["id"], heard["error"]["code"]) == (1, -32600)
    assert re.search(words, heard["error"]["message"])
