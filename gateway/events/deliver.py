"""Runs a job of the kind `delivery`: one attempt to send an event to an endpoint.

An attempt has a time limit, and an endpoint that has failed for days is disabled. So slow or dead
endpoints cost the others little. The worker limits how many deliveries to one endpoint run at the
same time (`gateway.job_policy`).
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from gateway.contract import event
from gateway.contract.fields.conversion import rfc3339
from gateway.events.outcome import AttemptOutcome
from gateway.events.sender import DeliverySender
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.backoff import wait_seconds
from gateway.jobs.outcome import Failed, Finished, Outcome
from gateway.store.publishing import Endpoints
from gateway.store.records import (
    ENDPOINT_DISABLED,
    Changes,
    Claim,
    DeliveryOutcome,
    Endpoint,
    Failure,
    NewEvent,
)

SOURCE: Final = "/endpoints"
"""The CloudEvents `source` of events about endpoints."""
FAILING: Final = timedelta(days=5)
"""An endpoint that has failed for this long without a success is disabled."""
AWAY: Final = timedelta(hours=1)
"""After this time without a success, the failures of an endpoint are nothing new."""


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
