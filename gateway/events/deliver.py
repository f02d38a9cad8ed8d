"""Runs a job of the kind `delivery`: one attempt to send an event to an endpoint.

The event is signed as `DELIVERIES` defines. An attempt has a time limit, and an endpoint that has
failed for days is disabled. So slow or dead endpoints cost the others little. The worker limits how
many deliveries to one endpoint run at the same time (`gateway.job_policy`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Protocol
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from gateway.backends.http.outbound import NoAnswer, PostAnswer
from gateway.clock import Clock
from gateway.contract import event
from gateway.contract.fields.conversion import rfc3339
from gateway.errors import StoreError
from gateway.events.cloudevents import CLOUD_EVENT, encode_event
from gateway.events.secrets import Keyring, open_headers, spellings
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.outcome import Failed, Finished, Outcome, wait_seconds
from gateway.observability.logs import Redactor
from gateway.signatures.registry import DELIVERIES
from gateway.store.publishing import Endpoints
from gateway.store.records import (
    ENDPOINT_DISABLED,
    Changes,
    Claim,
    DeliveryOutcome,
    Endpoint,
    Failure,
    NewEvent,
    StoredEvent,
)
from gateway.trace_context import Forwarding, forwarded

TRANSIENT: Final = frozenset({408, 409, 425, 429})
"""Client errors that say that the endpoint is busy."""
GONE: Final = 410
_SECONDS: Final = re.compile(r"[0-9]{1,10}")
MAX_SHOWN: Final = 500
"""The most characters of an answer's body that operators see."""
SOURCE: Final = "/endpoints"
"""The CloudEvents `source` of events about endpoints."""
FAILING: Final = timedelta(days=5)
"""An endpoint that has failed for this long without a success is disabled."""
AWAY: Final = timedelta(hours=1)
"""After this time without a success, the failures of an endpoint are nothing new."""


class AttemptOutcome(Struct, frozen=True, kw_only=True):
    """How an attempt to deliver ended."""

    answer: str
    """`2xx` to `5xx`, or why there was no answer. A test of an endpoint reports only this."""
    error: str | None = None
    """A class such as `endpoint_unavailable`. None if the event was delivered."""
    detail: str | None = None
    """Details for the operator."""
    is_retryable: bool = False
    is_gone: bool = False
    """Whether the endpoint asks for no more deliveries."""
    is_endpoints_fault: bool = True
    asked_seconds: float | None = None
    """How long the endpoint asks to wait."""


def verdict_of(outcome: PostAnswer | NoAnswer, now: datetime) -> AttemptOutcome:
    """The outcome by Standard Webhooks 1.0.0: only 2xx is a successful delivery."""
    if isinstance(outcome, NoAnswer):
        return _unanswered(outcome)
    answer, status = f"{outcome.status // 100}xx", f"HTTP {outcome.status}"
    if answer == "2xx":
        return AttemptOutcome(answer=answer)
    if outcome.status == GONE:
        return AttemptOutcome(answer=answer, error="endpoint_gone", detail=status, is_gone=True)
    if answer == "5xx" or outcome.status in TRANSIENT:
        return AttemptOutcome(
            answer=answer,
            error="endpoint_unavailable",
            detail=status,
            is_retryable=True,
            asked_seconds=_seconds(outcome.retry_after, now),
        )
    # While its owner deploys it, an endpoint may answer 401, 404 or a redirect.
    error = "endpoint_redirects" if answer == "3xx" else "endpoint_refuses"
    return AttemptOutcome(answer=answer, error=error, detail=status, is_retryable=True)


def _unanswered(outcome: NoAnswer) -> AttemptOutcome:
    is_refused = outcome.reason == "address_refused"
    return AttemptOutcome(
        answer=outcome.reason,
        error=outcome.reason if is_refused else f"endpoint_{outcome.reason}",
        detail=outcome.detail,
        is_retryable=not is_refused,
    )


def _seconds(retry_after: str | None, now: datetime) -> float | None:
    """Both forms of RFC 9110 §10.2.3; None for anything else."""
    if retry_after is None:
        return None
    if _SECONDS.fullmatch(retry_after):
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        # A year or a zone beyond all integers is no `ValueError` to the library.
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)


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


class Deliver:
    """Runs deliveries. See `gateway.jobs.outcome.Run`."""

    def __init__(
        self,
        endpoints: Endpoints,
        delivery_sender: DeliverySender,
        policy: JobPolicy = WORK_POLICY.jobs["delivery"],
        observe: Callable[[str, str], None] = lambda _answer, _standing: None,
    ) -> None:
        """`observe` is called with the class of each answer, and with what the endpoint did before:
        `working`, `failing` or `away`."""
        self._observe = observe
        self._endpoints = endpoints
        self._delivery_sender = delivery_sender
        self._policy = policy

    async def __call__(self, claim: Claim) -> Outcome:
        """See `Run`. Raises `StoreError`."""
        delivery = await self._endpoints.delivery(claim.job.subject)
        endpoint = await self._endpoints.find(delivery.endpoint_id) if delivery else None
        if delivery is None or endpoint is None:
            return _given_up("endpoint_removed", "the endpoint was removed")
        if endpoint.state != "active":
            return _given_up(ENDPOINT_DISABLED, "enable the endpoint, then redrive")
        hit("events.before_send")
        verdict = await self._delivery_sender.carry(delivery.event, endpoint)
        hit("events.after_send")
        self._observe(verdict.answer, _standing(claim, endpoint))
        wait = wait_seconds(self._policy, claim.job, verdict.asked_seconds)
        return _outcome(claim, endpoint, verdict, wait if verdict.is_retryable else None)


def _standing(claim: Claim, endpoint: Endpoint) -> str:
    """A class of endpoints. Metrics are not about single ones: there may be any number."""
    if endpoint.failing_since is None:
        return "working"
    # Both times are the store's: the job was last changed when it was claimed.
    return "away" if claim.job.updated_at - endpoint.failing_since >= AWAY else "failing"


def _outcome(
    claim: Claim, endpoint: Endpoint, verdict: AttemptOutcome, wait: float | None
) -> Outcome:
    if verdict.error is None:
        success = DeliveryOutcome(endpoint_id=endpoint.id, is_success=True)
        return Finished(changes=Changes(delivery=success))
    failure = Failure(error=verdict.error, detail=verdict.detail)
    if not verdict.is_endpoints_fault:
        return Failed(failure=failure, retry_seconds=wait)
    because = _why_disabled(claim, endpoint, verdict)
    note = DeliveryOutcome(endpoint_id=endpoint.id, is_success=False, disable_because=because)
    if because is None:
        return Failed(failure=failure, retry_seconds=wait, changes=Changes(delivery=note))
    events = (_disabled(endpoint, because),)
    return Failed(
        failure=failure, retry_seconds=None, changes=Changes(delivery=note, events=events)
    )


def _why_disabled(claim: Claim, endpoint: Endpoint, verdict: AttemptOutcome) -> str | None:
    if verdict.is_gone:
        return "gone"
    since = endpoint.failing_since
    # Both times are the store's: the job was last changed when it was claimed.
    if since is not None and claim.job.updated_at - since >= FAILING:
        return "failing"
    return None


def _disabled(endpoint: Endpoint, because: str) -> NewEvent:
    since = rfc3339(endpoint.failing_since) if endpoint.failing_since else None
    # Deliveries that fail at the same moment report one end of one failure.
    cause = (endpoint.failing_since or endpoint.updated_at).isoformat()
    return NewEvent(
        id=str(uuid5(NAMESPACE_URL, f"{event.ENDPOINT_DISABLED}/{endpoint.id}/{because}/{cause}")),
        type=event.ENDPOINT_DISABLED,
        subject=endpoint.id,
        source=SOURCE,
        data={"endpoint_id": endpoint.id, "reason": because, "failing_since": since},
    )


def _given_up(error: str, detail: str) -> Failed:
    return Failed(failure=Failure(error=error, detail=detail), retry_seconds=None)
