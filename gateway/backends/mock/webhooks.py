"""A mock as the sender of its vendor's webhook: what it reports is signed, and posted until it is
accepted."""

import asyncio
import logging
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Final

import aiohttp
from msgspec import Struct

from gateway.backends.http.once import send_once
from gateway.backends.mock.application import UpstreamApplication
from gateway.clock import Clock
from gateway.contract.mock import MAX_MESSAGES, MockMessage
from gateway.contract.values import jsontext
from gateway.contract.webhook import Profile, WebhookSource

LOOK_SECONDS: Final = 0.25
"""How often the mock is asked whether it has something to send."""
GIVE_UP_SECONDS: Final = 48 * 3600.0
"""Avinode sends for 48 hours what nobody takes; so do the mocks."""
_MAX_WAIT_SECONDS: Final = 300.0
_TIMEOUT: Final = aiohttp.ClientTimeout(total=10)
_log: Final = logging.getLogger(__name__)


class Listener(Struct, frozen=True, kw_only=True):
    """The receiver, and how the sender authenticates there."""

    url: str
    """Of the webhook, such as http://127.0.0.1:8700/webhooks/avinode."""
    source: WebhookSource
    profile: Profile
    """Messages of other profiles are not sent."""
    secret: str
    """One of the secrets of the profile."""


class _Attempt(Struct, frozen=True, order=True):
    """A message on its way."""

    at: float
    """By the monotonic clock."""
    number: int
    failures: int
    given_up_at: float
    message: MockMessage


class MockSender:
    """Posts the mock's messages to one listener, until it answers 2xx.

    Mock time decides when something happens, `clock` when it is sent again and what a signature
    says. A message that is not taken is sent again after 1, 2, 4, … up to 300 seconds, for 48
    hours. Raises `InvalidSecret`.
    """

    def __init__(self, application: UpstreamApplication, listener: Listener, clock: Clock) -> None:
        self._application = application
        self._listener = listener
        self._clock = clock
        self._key = listener.profile.proof.key_of(listener.secret)
        self._events = frozenset(
            event.type
            for event in listener.source.events
            if listener.profile.name in event.profiles
        )
        self._waiting: list[_Attempt] = []
        self._count = 0

    async def run(self) -> None:
        """Send until cancelled."""
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=_TIMEOUT,
            trust_env=False,
            middlewares=(send_once,),
        ) as session:
            while True:
                await self.send_due(session)
                await asyncio.sleep(LOOK_SECONDS)

    async def send_due(self, session: aiohttp.ClientSession) -> None:
        """Send what is due by now, once each."""
        now = self._clock.monotonic()
        for message in self._application.messages_due():
            if message.event in self._events:
                self._count += 1
                self._wait(_Attempt(now, self._count, 0, now + GIVE_UP_SECONDS, message))
            else:
                self._application.message_sent(message)
        while self._waiting and self._waiting[0].at <= now:
            attempt = heappop(self._waiting)
            problem = await self._post(session, attempt.message)
            if problem is None:
                self._application.message_sent(attempt.message)
            else:
                self._again(attempt, problem)

    def _wait(self, attempt: _Attempt) -> None:
        if len(self._waiting) < MAX_MESSAGES:
            heappush(self._waiting, attempt)
        else:
            self._lose(attempt, "too many others wait")

    def _again(self, attempt: _Attempt, problem: str) -> None:
        wait = min(2.0**attempt.failures, _MAX_WAIT_SECONDS)
        at = self._clock.monotonic() + wait
        if at > attempt.given_up_at:
            self._lose(attempt, problem)
            return
        if attempt.failures == 0:
            _log.warning(
                "mock %s: %s %s was not accepted: %s; it is sent again",
                self._listener.source.provider,
                attempt.message.event,
                attempt.message.id,
                problem,
            )
        number, message = attempt.number, attempt.message
        self._wait(_Attempt(at, number, attempt.failures + 1, attempt.given_up_at, message))

    def _lose(self, attempt: _Attempt, problem: str) -> None:
        self._application.message_sent(attempt.message)
        _log.error(
            "mock %s: %s %s is not sent any more: %s",
            self._listener.source.provider,
            attempt.message.event,
            attempt.message.id,
            problem,
        )

    async def _post(self, session: aiohttp.ClientSession, message: MockMessage) -> str | None:
        """Why the message was not taken, None when it was."""
        body = jsontext.encode(message.payload)
        try:
            async with session.post(
                self._listener.url,
                data=body,
                headers=self._headers(message, body),
                allow_redirects=False,
            ) as response:
                return None if 200 <= response.status < 300 else f"status {response.status}"
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return type(error).__name__

    def _headers(self, message: MockMessage, body: bytes) -> Mapping[str, str]:
        profile = self._listener.profile
        moment = int(self._clock.now().timestamp())
        headers = profile.proof.signed_fields([self._key], message.id, moment, body)
        headers["content-type"] = "application/json"
        headers["user-agent"] = f"contract-gateway-mock-{self._listener.source.provider}"
        if profile.event_type.header is not None:
            headers[profile.event_type.header] = message.event
        if profile.message_id is not None and profile.message_id.header is not None:
            headers[profile.message_id.header] = message.id
        return headers
