"""Webhooks and jobs for operators: `/operator/webhooks` and `/operator/jobs`."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from litestar import Controller, get, post
from msgspec import Struct

from gateway.audit.log import OpenRecord
from gateway.contract.values import jsontext
from gateway.errors import StateConflict, UnknownPath
from gateway.job_policy import JobKind
from gateway.store.records import Job, JobState, Page, StoredWebhook
from gateway.transports.operator.guard import (
    AnyRequest,
    Id,
    Limit,
    Name,
    OperatorParts,
    Parts,
    PathId,
    Shown,
    body_of,
    listed,
    query_of,
)


class WebhookQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which webhooks to list."""

    provider: Name | None = None
    event_type: Name | None = None
    state: JobState | None = None
    limit: Limit = 50
    after: Id | None = None


class JobQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which jobs to list."""

    kind: JobKind | None = None
    lane: Name | None = None
    state: JobState | None = None
    is_last: bool = False
    """Only jobs that were not started again."""
    limit: Limit = 50
    after: Id | None = None


class Redrive(Struct, frozen=True, forbid_unknown_fields=True):
    """How to repeat parts."""

    force: bool = False
    """Repeat it also if it was completed."""


_NO_WEBHOOK: Final = "There is no webhook with this id."
_NO_JOB: Final = "There is no job with this id."
_WAITS: Final = "Only ended work can be repeated, and this has attempts left."
_DONE_SINCE: Final = (
    "It was started again already and waits or is done, or its payload is no longer kept."
)
_FORGOTTEN: Final = (
    "Its arguments are no longer kept, so it cannot be repeated: make the call again. The setting"
    " `job_days` says how long they are kept."
)
_REPEATING: Final[Mapping[str, str]] = {
    "completed": "Only `force` (--force) repeats what is done, or its payload is no longer kept.",
    "quarantined": "Change its contract, then revalidate it.",
    "dead_letter": _DONE_SINCE,
    "cancelled": _DONE_SINCE,
}
"""Why work in a state cannot be repeated."""


class WebhookController(Controller):
    """`/operator/webhooks`: the received webhooks and their payloads, and to process one again."""

    path = "/operator/webhooks"

    @get(name="operator_webhooks")
    async def list_webhooks(self, request: AnyRequest, parts: Parts) -> Shown:
        """Webhooks, newest first, without payloads."""
        async with parts.guard.open(request, "webhooks.list"):
            asked = query_of(request, WebhookQuery)
            found = await parts.inbox.list(
                Page(asked.limit, asked.after),
                provider=asked.provider,
                event_type=asked.event_type,
                state=asked.state,
            )
            return listed([_summary(each) for each in found], found.next_after)

    @get("/{webhook_id:str}", name="operator_webhook")
    async def show_webhook(self, request: AnyRequest, parts: Parts, webhook_id: PathId) -> Shown:
        """One webhook with its payload and all attempts."""
        async with parts.guard.open(request, "webhooks.show"):
            return await _whole(parts, await _webhook(parts, webhook_id))

    @post("/{webhook_id:str}/replay", name="operator_replay", status_code=202)
    async def replay(self, request: AnyRequest, parts: Parts, webhook_id: PathId) -> Shown:
        """Start a webhook again, with new attempts, if its job has ended."""
        async with parts.guard.open(request, "webhooks.replay") as record:
            asked = await body_of(request, Redrive)
            webhook = await _webhook(parts, webhook_id)
            record.facts = {**record.facts, "job_id": webhook.job.id, "force": asked.force}
            return await _redriven(parts, webhook.job, record, force=asked.force)

    @post("/{webhook_id:str}/revalidate", name="operator_revalidate", status_code=200)
    async def revalidate(self, request: AnyRequest, parts: Parts, webhook_id: PathId) -> Shown:
        """Validate a quarantined webhook by the current contract. Process it if it is valid."""
        async with parts.guard.open(request, "webhooks.revalidate") as record:
            webhook = await _webhook(parts, webhook_id)
            await record.begin()
            verdict = await parts.quarantine.reconsider(webhook.id)
            if verdict is None:
                raise UnknownPath(_NO_WEBHOOK)
            if verdict.reason is not None:
                raise StateConflict(verdict.reason)
            parts.wake()
            is_accepted = verdict.is_admitted
            record.facts = {**record.facts, "accepted": is_accepted}
            return {"id": webhook.id, "accepted": is_accepted, "refusals": verdict.refusals}


class JobController(Controller):
    """`/operator/jobs`: all jobs, with the dead letters, and to start one again or cancel it."""

    path = "/operator/jobs"

    @get(name="operator_jobs")
    async def list_jobs(self, request: AnyRequest, parts: Parts) -> Shown:
        """Jobs, newest first."""
        async with parts.guard.open(request, "jobs.list"):
            asked = query_of(request, JobQuery)
            found = await parts.queue.jobs(
                Page(asked.limit, asked.after),
                kind=asked.kind,
                lane=asked.lane,
                state=asked.state,
                is_last=asked.is_last,
            )
            return listed([msgspec.to_builtins(job) for job in found], found.next_after)

    @get("/{job_id:str}", name="operator_job")
    async def show_job(self, request: AnyRequest, parts: Parts, job_id: PathId) -> Shown:
        """One job with its attempts."""
        async with parts.guard.open(request, "jobs.show"):
            job = await _job(parts, job_id)
            attempts = await parts.queue.attempts(job.id)
            return {**msgspec.to_builtins(job), "history": attempts}

    @post("/{job_id:str}/redrive", name="operator_redrive", status_code=202)
    async def redrive(self, request: AnyRequest, parts: Parts, job_id: PathId) -> Shown:
        """Start a job again, with new attempts, if it has ended."""
        async with parts.guard.open(request, "jobs.redrive") as record:
            asked = await body_of(request, Redrive)
            record.facts = {**record.facts, "force": asked.force}
            job = await _job(parts, job_id)
            return await _redriven(parts, job, record, force=asked.force)

    @post("/{job_id:str}/cancel", name="operator_cancel", status_code=200)
    async def cancel(self, request: AnyRequest, parts: Parts, job_id: PathId) -> Job:
        """Cancel a job that does not run at the moment."""
        async with parts.guard.open(request, "jobs.cancel") as record:
            job = await _job(parts, job_id)
            await record.begin()
            if not await parts.queue.cancel(job.id, record.agent):
                raise StateConflict(_state(job, "Only work that waits can be cancelled."))
            return await _job(parts, job.id)


async def _webhook(parts: OperatorParts, webhook_id: str) -> StoredWebhook:
    found = await parts.inbox.find(webhook_id)
    if found is None:
        raise UnknownPath(_NO_WEBHOOK)
    return found


async def _job(parts: OperatorParts, job_id: str) -> Job:
    found = await parts.queue.find(job_id)
    if found is None:
        raise UnknownPath(_NO_JOB)
    return found


async def _redriven(parts: OperatorParts, job: Job, record: OpenRecord, *, force: bool) -> Shown:
    await record.begin()
    new = await parts.queue.redrive(job.id, record.agent, force=force)
    if new is None:
        forgotten = job.kind == "call" and await parts.queue.call(job.id) is None
        rule = _FORGOTTEN if forgotten else _REPEATING.get(job.state, _WAITS)
        raise StateConflict(_state(job, rule))
    parts.wake()
    return {"job": new}


def _state(job: Job, rule: str) -> str:
    return f"The job {job.id} is {job.state}. {rule}"


async def _whole(parts: OperatorParts, webhook: StoredWebhook) -> dict[str, Any]:
    attempts = await parts.queue.attempts(webhook.job.id)
    return {**_summary(webhook), "payload": _payload(webhook.body), "history": attempts}


def _summary(webhook: StoredWebhook) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(webhook, builtin_types=(bytes,))
    del shown["body"]
    return {**shown, "state": webhook.job.state}


def _payload(body: bytes | None) -> Any:
    """The value of a body, or its text if it is a form or cannot be read. None: no longer kept."""
    if body is None:
        return None
    try:
        return jsontext.decode(body)
    except jsontext.NotJson:
        return body.decode("utf-8", "replace")
