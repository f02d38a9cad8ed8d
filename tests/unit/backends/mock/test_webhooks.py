"""The mock as a sender of webhooks: signed, in time, and until the listener takes it."""

import json
import logging
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from gateway.backends.mock.state import StoredState
from gateway.backends.mock.webhooks import GIVE_UP_SECONDS, Listener, MockSender
from gateway.contract.mock import MockMessage
from gateway.contract.webhook import MessagePart, Profile, WebhookEvent, WebhookSource
from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from gateway.signatures.scheme import InvalidSecret
from gateway.signatures.standard import StandardSignature
from gateway.testing.asgi_server import serving
from tests.clocks import NOW, ManualClock

SIGNED = Profile(
    name="signed",
    authentication=HmacSignature(
        header="x-signature", prefix="sha256=", timestamp_header="x-timestamp"
    ),
    message_id=MessagePart(pointer="/event_id"),
    event_type=MessagePart(pointer="/event_type"),
)
STANDARD = Profile(
    name="standard",
    authentication=StandardSignature(),
    message_id=MessagePart(header="webhook-id"),
    event_type=MessagePart(header="x-event"),
)
POINTER = Profile(
    name="pointer",
    authentication=BasicCredentials(),
    message_id=None,
    event_type=MessagePart(pointer="/type"),
)
SOURCE = WebhookSource(
    provider="avinode",
    title="Avinode",
    profiles=(SIGNED, STANDARD, POINTER),
    events=(
        WebhookEvent(type="quote_received", profiles=("signed", "standard")),
        WebhookEvent(type="rfqs", profiles=("pointer",)),
    ),
)


class Inbox:
    """Answers what it is set to, and keeps what it was sent."""

    def __init__(self, *statuses):
        self._statuses = list(statuses)
        self.received = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        body = (await receive())["body"]
        self.received.append((scope["path"], tuple(scope["headers"]), body))
        status = self._statuses.pop(0) if self._statuses else 202
        headers = [(b"location", b"/elsewhere")] if 300 <= status < 400 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    @property
    def ids(self):
        return [json.loads(body)["event_id"] for _, _, body in self.received]


class Mock:
    """What stands behind the sender: a schedule and a clock."""

    def __init__(self, clock):
        self._clock = clock
        self._state = StoredState()

    def later(self, seconds, number, event="quote_received"):
        payload = {"event_type": event, "event_id": f"evt-{number}", "type": event}
        message = MockMessage(id=f"evt-{number}", event=event, payload=payload)
        self._state.later(NOW + timedelta(seconds=seconds), message)

    def messages_due(self):
        return self._state.due(self._clock.now())

    def message_sent(self, message):
        self._state.sent(message)


class Bench:
    def __init__(self, url, profile):
        self.clock = ManualClock()
        self.mock = Mock(self.clock)
        self.secret = profile.authentication.new_secret()
        listener = Listener(
            url=f"{url}/webhooks/avinode", source=SOURCE, profile=profile, secret=self.secret
        )
        self.sender = MockSender(self.mock, listener, self.clock)

    async def pass_time(self, seconds=0):
        self.clock.advance(seconds)
        await self.sender.send_due()

    def is_authentic(self, profile, request):
        _, headers, body = request
        verify = profile.authentication.verifier([profile.authentication.key_of(self.secret)])
        return verify(Received(fields=headers, body=body), self.clock.now().timestamp())


@asynccontextmanager
async def bench(inbox, profile=SIGNED):
    async with serving(inbox) as url:
        found = Bench(url, profile)
        yield found
        await found.sender.close()


@pytest.mark.parametrize("profile", [SIGNED, STANDARD])
async def test_what_is_sent_is_authentic_and_named(profile):
    inbox = Inbox()
    async with bench(inbox, profile) as found:
        found.mock.later(0, 1)
        await found.pass_time()
    [request] = inbox.received
    path, headers, body = request
    assert path == "/webhooks/avinode"
    assert found.is_authentic(profile, request)
    assert not found.is_authentic(profile, (path, headers, body + b" "))
    assert json.loads(body)["event_id"] == "evt-1"
    named = dict(headers)
    assert named[b"content-type"] == b"application/json"
    if profile is STANDARD:
        assert (named[b"webhook-id"], named[b"x-event"]) == (b"evt-1", b"quote_received")


async def test_a_listener_to_pointers_gets_pointers_and_no_others():
    inbox = Inbox()
    async with bench(inbox, POINTER) as found:
        found.mock.later(0, 1)
        found.mock.later(0, 2, event="rfqs")
        await found.pass_time()
        assert found.is_authentic(POINTER, inbox.received[0])
    assert inbox.ids == ["evt-2"]


async def test_nothing_is_sent_before_its_moment():
    inbox = Inbox()
    async with bench(inbox) as found:
        found.mock.later(60, 1)
        await found.pass_time(59)
        assert inbox.received == []
        await found.pass_time(1)
        await found.pass_time(1)
    assert inbox.ids == ["evt-1"]


@pytest.mark.parametrize("refusal", [302, 401, 409, 429, 500, 503])
async def test_what_is_not_taken_is_sent_again_until_it_is(refusal):
    inbox = Inbox(refusal, refusal, refusal, 200)
    async with bench(inbox) as found:
        found.mock.later(0, 1)
        for passed, sent in ((0, 1), (0.9, 1), (0.1, 2), (1.9, 2), (0.1, 3), (4, 4), (999, 4)):
            await found.pass_time(passed)
            assert inbox.ids == ["evt-1"] * sent
    assert {path for path, _, _ in inbox.received} == {"/webhooks/avinode"}
    bodies = {body for _, _, body in inbox.received}
    assert len(bodies) == 1


async def test_a_signature_says_when_it_was_sent_again():
    inbox = Inbox(503)
    async with bench(inbox) as found:
        found.mock.later(0, 1)
        await found.pass_time()
        await found.pass_time(1000)
        first, second = inbox.received
        assert found.is_authentic(SIGNED, second)
        assert not found.is_authentic(SIGNED, first)


async def test_a_listener_that_is_away_is_asked_again(caplog):
    async with serving(Inbox()) as url:
        pass
    found = Bench(url, SIGNED)
    with caplog.at_level(logging.WARNING):
        found.mock.later(0, 1)
        await found.pass_time()
        await found.pass_time(GIVE_UP_SECONDS)
    assert [record.message.partition("evt-1 ")[2] for record in caplog.records] == [
        "was not accepted: NotConnected; it is sent again",
        "is not sent any more: NotConnected",
    ]


async def test_one_that_is_refused_does_not_hold_up_the_others():
    inbox = Inbox(400)
    async with bench(inbox) as found:
        found.mock.later(0, 1)
        found.mock.later(0, 2)
        await found.pass_time()
    assert inbox.ids == ["evt-1", "evt-2"]


async def test_it_gives_up_after_two_days_and_says_so_without_the_message(caplog):
    inbox = Inbox(*[500] * 2000)
    with caplog.at_level(logging.WARNING):
        async with bench(inbox) as found:
            found.mock.later(0, 1)
            await found.pass_time()
            for _ in range(int(GIVE_UP_SECONDS // 300) + 20):
                await found.pass_time(300)
            sent = len(inbox.received)
            await found.pass_time(86_400)
    assert len(inbox.received) == sent
    assert [record.message for record in caplog.records] == [
        "mock avinode: quote_received evt-1 was not accepted: status 500; it is sent again",
        "mock avinode: quote_received evt-1 is not sent any more: status 500",
    ]


def test_a_secret_that_cannot_prove_anything_is_refused():
    listener = Listener(url="http://127.0.0.1:1", source=SOURCE, profile=SIGNED, secret="")
    with pytest.raises(InvalidSecret):
        MockSender(Mock(ManualClock()), listener, ManualClock())
