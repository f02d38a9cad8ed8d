"""The ntfy tool against the mock of ntfy, its field functions, and that mock over HTTP."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.connectors.ntfy.fields import moment, within_bytes
from gateway.connectors.ntfy.mock import BEHAVIOURS, BURST, DAILY
from gateway.contract.fields.fieldmap import Unmappable
from gateway.errors import (
    InvalidArguments,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.clocks import ManualClock
from tests.unit import shipped
from tests.unit.connectors.tools import ConnectorTools, over_asgi
from tests.unit.tables import each_of

HELLO = {"topic": "alerts", "message": "Hello"}


def ntfy(*steps, **options):
    return ConnectorTools("ntfy", *steps, **options)


async def send(tools=None, **arguments):
    arguments = {"message": "Hello", **arguments}
    return await (tools or ntfy()).call("send_push_notification", **arguments)


@given(st.text(min_size=1).map(lambda text: (text * 4096)[:4200]), st.integers(1, 4200))
@example("x" * 4096, 4096)
@example("x" * 4097, 4097)
@example("é" * 2049, 2049)
@example("😀" * 1024, 1024)
@example("😀" * 1025, 1025)
def test_a_message_passes_exactly_when_its_bytes_do(text, length):
    message = text[:length]
    if len(message.encode()) <= 4096:
        assert within_bytes(message) == message
    else:
        with pytest.raises(Unmappable) as caught:
            within_bytes(message)
        assert caught.value.pointer == "/message"


def test_a_moment_is_reported_in_universal_time():
    assert moment(1_795_185_000) == "2026-11-20T14:30:00.000Z"


async def test_a_notification_goes_to_the_root_with_the_topic_in_the_body():
    tools = ntfy()
    result = await send(tools, title="News", priority="high")
    (request,) = tools.requests
    assert (request.method, request.path) == ("POST", ())
    assert request.body == {"topic": "alerts", "message": "Hello", "title": "News", "priority": 4}
    assert (result["status"], result["sent_at"]) == ("sent", "2026-11-20T14:30:00.000Z")


@pytest.mark.parametrize(
    ("arguments", "priority"),
    [({}, 3), ({"priority": "low"}, 2), ({"priority": "default"}, 3), ({"priority": "high"}, 4)],
)
async def test_priorities_have_numbers(arguments, priority):
    tools = ntfy()
    await send(tools, **arguments)
    assert tools.requests[0].body["priority"] == priority
    assert "title" not in tools.requests[0].body


async def test_too_many_bytes_are_refused_unsent():
    """Within the characters of the contract, and beyond the bytes of ntfy."""
    tools = ntfy()
    with pytest.raises(InvalidArguments) as caught:
        await send(tools, message="é" * 2049)
    assert [each.pointer for each in caught.value.violations] == ["/message"]
    assert "4098 bytes" in caught.value.violations[0].detail
    assert tools.requests == []


@pytest.mark.parametrize("message", ["", " ", "\n\t \r\n", "x" * 4097])
async def test_a_message_says_something_and_not_too_much(message):
    assert (
        not shipped.catalogue()
        .find("ntfy.send_push_notification")
        .input.admits({"message": message})
    )


async def test_what_json_makes_too_long_is_a_declared_error():
    """Every quote takes two bytes in JSON, and ntfy reads twice as many as a message may have."""
    with pytest.raises(ToolFailed) as caught:
        await send(message='"' * 4096)
    assert (caught.value.reason, caught.value.status) == ("message_too_large", 413)


@pytest.mark.parametrize(
    ("token", "error"),
    [("tk_expired", UpstreamRefusedCredentials), ("tk_readonly", UpstreamNotSetUp)],
)
async def test_a_refused_token_is_no_success(token, error):
    with pytest.raises(error):
        await send(ntfy(token=token))


@each_of(
    ("fault", "error"),
    [
        ("status=400", UpstreamRejected),
        ("status=429", UpstreamRateLimited),
        ("status=503", UpstreamUnavailable),
        ("status=302", InvalidReply),
        ("truncate", InvalidReply),
        ("close", UpstreamUnavailable),
        ("break-contract", InvalidReply),
    ],
)
async def test_a_failing_server_never_becomes_a_result_nor_gets_it_twice(fault, error):
    tools = ntfy(f"* 1 {fault}")
    with pytest.raises(error):
        await send(tools)
    assert len(tools.requests) == 1


async def test_a_used_up_burst_is_a_rate_limit_without_a_time():
    tools = ntfy(token="tk_limited")
    for _ in range(BURST):
        await send(tools)
    with pytest.raises(UpstreamRateLimited) as caught:
        await send(tools)
    assert caught.value.retry_after_seconds is None
    tools.clock.advance(5)
    await send(tools)


class Server:
    """A client of the mock, and the mock's time."""

    def __init__(self, http, clock):
        self.http, self.clock = http, clock

    async def publish(self, body=HELLO, **options):
        return await self.http.post("/", json=body, **options)

    async def as_limited(self):
        return await self.publish(headers={"authorization": "Bearer tk_limited"})


@pytest.fixture
async def server():
    clock = ManualClock()
    application = asgi_app(MockApplication(shipped.upstream("ntfy"), clock))
    async with over_asgi(application) as http:
        yield Server(http, clock)


def code(reply):
    assert reply.json()["http"] == reply.status_code
    return reply.json()["code"]


def test_every_operation_has_a_behaviour():
    assert BEHAVIOURS.keys() == {operation.id for operation in shipped.upstream("ntfy").operations}


async def test_a_message_is_published_as_it_came(server):
    sent = {**HELLO, "title": "News", "priority": 5}
    message = (await server.publish(sent)).json()
    assert {name: message[name] for name in sent} == sent
    assert (len(message["id"]), message["event"]) == (12, "message")
    assert message["expires"] - message["time"] == 12 * 3600
    assert (await server.publish(sent)).json()["id"] != message["id"]


async def test_a_message_without_text_says_that_something_happened(server):
    message = (await server.publish({"topic": "alerts"})).json()
    assert message["message"] == "triggered"
    assert not {"priority", "title"} & message.keys()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({**HELLO, "priority": 6}, 40007),
        ({**HELLO, "topic": "no topic"}, 40009),
        ({**HELLO, "topic": "x" * 65}, 40009),
        ({**HELLO, "topic": "docs"}, 40010),
        ({"message": "Hello"}, 40017),
        ({**HELLO, "message": "é" * 2049}, 41301),
        ({**HELLO, "message": '"' * 4096}, 41303),
    ],
)
async def test_what_ntfy_refuses_has_its_code(server, body, expected):
    reply = await server.publish(body)
    assert code(reply) == expected


async def test_what_is_no_json_is_refused(server):
    headers = {"content-type": "application/json"}
    assert code(await server.http.post("/", content=b"{", headers=headers)) == 40017


@pytest.mark.parametrize(("token", "expected"), [("tk_expired", 40101), ("tk_readonly", 40301)])
async def test_tokens_are_judged(server, token, expected):
    reply = await server.publish(headers={"authorization": f"Bearer {token}"})
    assert code(reply) == expected


async def test_the_bucket_holds_sixty_and_gains_one_in_five_seconds(server):
    statuses = [(await server.as_limited()).status_code for _ in range(BURST + 1)]
    assert statuses == [200] * BURST + [429]
    server.clock.advance(4.9)
    refused = await server.as_limited()
    assert code(refused) == 42901
    assert "retry-after" not in refused.headers
    server.clock.advance(5)
    assert [(await server.as_limited()).status_code for _ in range(2)] == [200, 429]
    server.clock.advance(3600)
    assert [(await server.as_limited()).status_code for _ in range(BURST + 1)] == statuses


async def test_a_day_has_its_quota_and_ends(server):
    replies = []
    for _ in range(DAILY + 1):
        server.clock.advance(5)
        replies.append(await server.as_limited())
    assert {reply.status_code for reply in replies[:-1]} == {200}
    assert code(replies[-1]) == 42908
    server.clock.advance(86_400)
    assert (await server.as_limited()).status_code == 200


async def test_others_are_not_limited(server):
    for _ in range(BURST + 1):
        await server.as_limited()
    assert {(await server.publish()).status_code for _ in range(BURST + 1)} == {200}
