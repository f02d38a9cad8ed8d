"""Sends one event to one endpoint, signed as `DELIVERIES` defines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from msgspec.structs import replace
from yarl import URL

from gateway.backends.http.posting import NoAnswer, PostAnswer
from gateway.clock import Clock
from gateway.errors import StoreError
from gateway.events.cloudevents import CLOUD_EVENT, encode_event
from gateway.events.headers import open_headers, spellings
from gateway.events.outcome import AttemptOutcome, verdict_of
from gateway.events.secrets import Keyring
from gateway.observability.redaction import Redactor
from gateway.signatures.registry import DELIVERIES
from gateway.store.records import Endpoint, StoredEvent
from gateway.trace_context import Forwarding, forwarded

MAX_SHOWN: Final = 500
"""The most characters of an answer's body that operators see."""


class OutboundSender(Protocol):
    """Sends only to addresses that may be reached."""

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> PostAnswer | NoAnswer:
        """Send `body`. Returns the answer or why there is none; errors of the endpoint do not
        raise."""
        ...

    async def refusal(self, url: str) -> NoAnswer | None:
        """Why nothing can be sent to `url` now, or None if it can."""
        ...


class DeliverySender:
    """Signs and sends events. An event has the same bytes each time, with a new timestamp."""

    def __init__(
        self,
        sender: OutboundSender,
        keyring: Keyring,
        clock: Clock,
        forwarding: Forwarding = "ids",
    ) -> None:
        self._forwarding = forwarding
        self._sender = sender
        self._keyring = keyring
        self._clock = clock

    async def carry(self, event: StoredEvent, endpoint: Endpoint) -> AttemptOutcome:
        """Send `event` to `endpoint` once. Returns the outcome."""
        try:
            secrets, own = self._secrets(endpoint), open_headers(self._keyring, endpoint)
        except StoreError as error:
            return AttemptOutcome(
                answer="unsigned",
                error="secret_unreadable",
                detail=error.detail,
                is_retryable=True,
                is_endpoints_fault=False,
            )
        shown = event if self._forwarding != "off" else replace(event, trace=None)
        body = encode_event(shown)
        keys = [DELIVERIES.key_of(secret) for secret in secrets]
        timestamp = int(self._clock.now().timestamp())
        headers = own | DELIVERIES.signed_fields(keys, event.id, timestamp, body)
        headers |= {"content-type": CLOUD_EVENT, **dict(forwarded(self._forwarding))}
        outcome = await self._sender.post(endpoint.url, headers, body)
        verdict = verdict_of(outcome, self._clock.now())
        if verdict.error is None or isinstance(outcome, NoAnswer) or not outcome.excerpt:
            return verdict
        known = [*_proofs(secrets, headers), *_values_in(endpoint.url)]
        known += [each for value in own.values() for each in spellings(value)]
        return replace(verdict, detail=f"{verdict.detail}: {_shown(outcome.excerpt, known)}")

    def _secrets(self, endpoint: Endpoint) -> list[str]:
        """The current secret, and the previous one while it is valid."""
        secrets = [self._keyring.open(endpoint.secret, endpoint.id)]
        until = endpoint.previous_until
        if endpoint.previous_secret and until and self._clock.now() < until:
            secrets.append(self._keyring.open(endpoint.previous_secret, endpoint.id))
        return secrets


def _proofs(secrets: Sequence[str], headers: Mapping[str, str]) -> Iterator[str]:
    """The secrets in all their forms, and the signatures that were sent."""
    for secret in secrets:
        yield from DELIVERIES.spellings(secret)
    for name in DELIVERIES.credential_headers:
        yield headers[name]


def _values_in(url: str) -> Sequence[str]:
    """Parts of the URL that may be tokens: the receiver may repeat them in an error page."""
    return tuple(URL(url, encoded=True).query.values())


def _shown(excerpt: bytes, secrets: Sequence[str]) -> str:
    """The beginning of an untrusted text, without secrets and without control characters."""
    text = Redactor(secrets).redact(excerpt.decode("utf-8", "replace"))
    words = "".join(each if each.isprintable() else " " for each in text).split()
    return " ".join(words)[:MAX_SHOWN]
