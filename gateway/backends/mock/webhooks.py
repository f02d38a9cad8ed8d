"""Sends the webhooks of a mock: signs its messages, and posts each until it is accepted."""

import asyncio
import logging
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Final

from msgspec import Struct
from yarl import URL

from gateway.backends.http.pool import NotConnected
from gateway.backends.http.replies import ConnectionBroken, ReplyLimits
from gateway.backends.http.wire import HttpWire
from gateway.backends.mock.application import MockApplication
from gateway.backends.wire import WireRequest
from gateway.clock import Clock, Polls
from gateway.contract.mock import MAX_MESSAGES, MockMessage
from gateway.contract.values import jsontext
from gateway.contract.webhook import Profile, WebhookSource
from gateway.errors import InvalidReply

POLL_SECONDS: Final = 0.25
"""The interval between two checks for messages that are due."""
_IDLE_SECONDS: Final = 1.0
"""The longest time between two looks at a mock that sends nothing."""
GIVE_UP_SECONDS: Final = 48 * 3600.0
"""How long a message is sent again if it is not accepted: 48 hours, as Avinode does."""
_MAX_WAIT_SECONDS: Final = 300.0
_TIMEOUT_SECONDS: Final = 10.0
_ANSWERS: Final = ReplyLimits(max_bytes=1024 * 1024)
_log: Final = logging.getLogger(__name__)


class Listener(Struct, frozen=True, kw_only=True):
    """The receiver of the messages, and the credentials for it."""

    url: str
    """The URL of the webhook, such as http://127.0.0.1:8700/webhooks/avinode."""
    source: WebhookSource
    profile: Profile
    """Messages of other profiles are not sent."""
    secret: str
    """One of the secrets of the profile."""


class _Attempt(Struct, frozen=True, order=True):
    """A message that is waiting for its next attempt."""

    at: float
    """The time of the attempt. Times are readings of the monotonic clock."""
    number: int
    failures: int
    given_up_at: float
    message: MockMessage


class MockSender:
    """Posts each of the mock's messages to one listener, until the listener answers 2xx.

    The mock's clock decides when a message is due. `clock` decides when it is sent again, and gives
    the timestamp of its signature. A message that is not accepted is sent again after 1, 2, 4, … up
    to 300 seconds, for 48 hours. Raises `InvalidSecret`.
    """

    def __init__(self, application: MockApplication, listener: Listener, clock: Clock) -> None:
        self._application = application
        self._listener = listener
        self._clock = clock
        self._key = listener.profile.authentication.key_of(listener.secret)
        self._events = frozenset(
            event.type
            for event in listener.source.events
            if listener.profile.name in event.profiles
        )
        url = URL(listener.url)
        self._wire = HttpWire("webhooks", str(url.origin()), _ANSWERS)
        self._target = url.raw_path_qs
        self._waiting: list[_Attempt] = []
        self._count = 0

    async def run(self) -> None:
        """Send messages until cancelled."""
        polls = Polls(POLL_SECONDS, _IDLE_SECONDS)
        try:
            while True:
                known = self._count
                await self.send_due()
                if self._waiting or self._count > known:
                    polls.note_work()
                await asyncio.sleep(polls.wait_seconds())
        finally:
            await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._wire.close()

    async def send_due(self) -> None:
        """Send each message that is due, once."""
        now = self._clock.monotonic()
        for message in self._application.messages_due():
            if message.event in self._events:
                self._count += 1
                self._schedule(_Attempt(now, self._count, 0, now + GIVE_UP_SECONDS, message))
            else:
                self._application.message_sent(message)
        while self._waiting and self._waiting[0].at <= now:
            attempt = heappop(self._waiting)
            problem = await self._post(attempt.message)
            if problem is None:
                self._application.message_sent(attempt.message)
            else:
                self._retry(attempt, problem)

    def _schedule(self, attempt: _Attempt) -> None:
        if len(self._waiting) < MAX_MESSAGES:
            heappush(self._waiting, attempt)
        else:
            self._give_up(attempt, "too many messages are waiting")

    def _retry(self, attempt: _Attempt, problem: str) -> None:
        wait = min(2.0**attempt.failures, _MAX_WAIT_SECONDS)
        at = self._clock.monotonic() + wait
        if at > attempt.given_up_at:
            self._give_up(attempt, problem)
            return
        if attempt.failures == 0:
            text = "mock %s: %s %s was not accepted: %s; it is sent again"
            _log.warning(text, *self._named(attempt), problem)
        number, message = attempt.number, attempt.message
        self._schedule(_Attempt(at, number, attempt.failures + 1, attempt.given_up_at, message))

    def _give_up(self, attempt: _Attempt, problem: str) -> None:
        self._application.message_sent(attempt.message)
        text = "mock %s: %s %s is not sent any more: %s"
        _log.error(text, *self._named(attempt), problem)

    def _named(self, attempt: _Attempt) -> tuple[str, str, str]:
        return self._listener.source.provider, attempt.message.event, attempt.message.id

    async def _post(self, message: MockMessage) -> str | None:
        """Post the message. Returns why it was not accepted, or None if it was."""
        body = jsontext.encode(message.payload)
        headers = tuple(self._headers(message, body).items())
        request = WireRequest(method="POST", target=self._target, headers=headers, body=body)
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                reply = await self._wire.send(request)
        except (NotConnected, ConnectionBroken, InvalidReply, TimeoutError) as error:
            return type(error).__name__
        return None if 200 <= reply.status < 300 else f"status {reply.status}"

    def _headers(self, message: MockMessage, body: bytes) -> Mapping[str, str]:
        profile = self._listener.profile
        moment = int(self._clock.now().timestamp())
        headers = profile.authentication.signed_fields([self._key], message.id, moment, body)
        headers["content-type"] = "application/json"
        headers["user-agent"] = f"contract-gateway-mock-{self._listener.source.provider}"
        if profile.event_type.header is not None:
            headers[profile.event_type.header] = message.event
        if profile.message_id is not None and profile.message_id.header is not None:
            headers[profile.message_id.header] = message.id
        return headers
