"""Webhooks and jobs for operators: `/operator/webhooks` and `/operator/jobs`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import msgspec
from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Meta, Struct

from gateway.audit.log import OpenRecord
from gateway.contract.values import jsontext
from gateway.errors import StateConflict, UnknownPath
from gateway.job_policy import JobKind
from gateway.store.protocols import Inbox, Queue
from gateway.store.records import Job, JobState, Page, StoredWebhook
from gateway.transports.operator.guard import (
    MAX_PAGE,
    AnyRequest,
    OperatorGuard,
    answer,
    body_of,
    listed,
    query_of,
)
from gateway.webhooks.processing import Quarantine

_Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE)]
_Id = Annotated[str, Meta(min_length=1, max_length=64)]
_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class WorkParts(Struct, frozen=True):
    """What these routes need."""

    inbox: Inbox
    queue: Queue
    quarantine: Quarantine
    wake: Callable[[], None]
    """Notifies the workers of this process that there is something to do."""


class WebhookQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which webhooks to list."""

    provider: _Name | None = None
    event_type: _Name | None = None
    state: JobState | None = None
    limit: _Limit = 50
    after: _Id | None = None


class JobQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which jobs to list."""

    kind: JobKind | None = None
    lane: _Name | None = None
    state: JobState | None = None
    is_last: bool = False
    """Only jobs that were not started again."""
    limit: _Limit = 50
    after: _Id | None = None


class Redrive(Struct, frozen=True, forbid_unknown_fields=True):
    """How to repeat work."""

    force: bool = False
    """Repeat it also if it was completed."""


def work_routes(guard: OperatorGuard, work: WorkParts) -> list[HTTPRouteHandler]:
    """All routes of `/operator/webhooks` and `/operator/jobs`."""
    return [
        *_webhook_routes(guard, work),
        *_repetition_routes(guard, work),
        *_job_routes(guard, work),
        *_ended_routes(guard, work),
    ]


def _webhook_routes(guard: OperatorGuard, work: WorkParts) -> list[HTTPRouteHandler]:
    """`/operator/webhooks`: the received webhooks and their payloads."""

    @get("/operator/webhooks", name="operator_webhooks")
    async def list_webhooks(request: AnyRequest) -> Response[bytes]:
        """Webhooks, newest first, without payloads."""
        async with guard.open(request, "webhooks.list"):
            asked = query_of(request, WebhookQuery)
            found = await work.inbox.list(
                Page(asked.limit, asked.after),
                provider=asked.provider,
                event_type=asked.event_type,
                state=asked.state,
            )
            return listed([_summary(each) for each in found], found.next_after)

    @get("/operator/webhooks/{webhook_id:str}", name="operator_webhook")
    async def show_webhook(request: AnyRequest, webhook_id: FromPath[str]) -> Response[bytes]:
        """One webhook with its payload and all attempts."""
        async with guard.open(request, "webhooks.show", webhook_id=webhook_id):
            return answer(await _whole(work, await _webhook(work, webhook_id)))

    return [list_webhooks, show_webhook]


def _repetition_routes(guard: OperatorGuard, work: WorkParts) -> list[HTTPRouteHandler]:
    """`/operator/webhooks/<id>/…`: process a webhook again."""

    @post("/operator/webhooks/{webhook_id:str}/replay", name="operator_replay", status_code=202)
    async def replay(request: AnyRequest, webhook_id: FromPath[str]) -> Response[bytes]:
        """Start a webhook again, with new attempts, if its job has ended."""
        async with guard.open(request, "webhooks.replay", webhook_id=webhook_id) as record:
            asked = await body_of(request, Redrive)
            webhook = await _webhook(work, webhook_id)
            record.facts = {**record.facts, "job_id": webhook.job.id, "force": asked.force}
            return answer(await _redriven(work, webhook.job, record, force=asked.force), 202)

    @post("/operator/webhooks/{webhook_id:str}/revalidate", name="operator_revalidate")
    async def revalidate(request: AnyRequest, webhook_id: FromPath[str]) -> Response[bytes]:
        """Validate a quarantined webhook by the current contract. Process it if it is valid."""
        async with guard.open(request, "webhooks.revalidate", webhook_id=webhook_id) as record:
            webhook = await _webhook(work, webhook_id)
            await record.begin()
            verdict = await work.quarantine.reconsider(webhook.id)
            if verdict is None:
                raise UnknownPath(_NO_WEBHOOK)
            if verdict.reason is not None:
                raise StateConflict(verdict.reason)
            work.wake()
            is_accepted = verdict.is_admitted
            record.facts = {**record.facts, "accepted": is_accepted}
            shown = {"id": webhook.id, "accepted": is_accepted, "refusals": verdict.refusals}
            return answer(shown)

    return [replay, revalidate]


def _job_routes(guard: OperatorGuard, work: WorkParts) -> list[HTTPRouteHandler]:
    """`/operator/jobs`: all jobs, with the dead letters."""

    @get("/operator/jobs", name="operator_jobs")
    async def list_jobs(request: AnyRequest) -> Response[bytes]:
        """Jobs, newest first."""
        async with guard.open(request, "jobs.list"):
            asked = query_of(request, JobQuery)
            found = await work.queue.jobs(
                Page(asked.limit, asked.after),
                kind=asked.kind,
                lane=asked.lane,
                state=asked.state,
                is_last=asked.is_last,
            )
            return listed([msgspec.to_builtins(job) for job in found], found.next_after)

    @get("/operator/jobs/{job_id:str}", name="operator_job")
    async def show_job(request: AnyRequest, job_id: FromPath[str]) -> Response[bytes]:
        """One job with its attempts."""
        async with guard.open(request, "jobs.show", job_id=job_id):
            job = await _job(work, job_id)
            attempts = await work.queue.attempts(job.id)
            return answer({**msgspec.to_builtins(job), "history": attempts})

    return [list_jobs, show_job]


def _ended_routes(guard: OperatorGuard, work: WorkParts) -> list[HTTPRouteHandler]:
    """`/operator/jobs/<id>/…`: start a job again, or cancel it."""

    @post("/operator/jobs/{job_id:str}/redrive", name="operator_redrive", status_code=202)
    async def redrive(request: AnyRequest, job_id: FromPath[str]) -> Response[bytes]:
        """Start a job again, with new attempts, if it has ended."""
        async with guard.open(request, "jobs.redrive", job_id=job_id) as record:
            asked = await body_of(request, Redrive)
            record.facts = {**record.facts, "force": asked.force}
            job = await _job(work, job_id)
            return answer(await _redriven(work, job, record, force=asked.force), 202)

    @post("/operator/jobs/{job_id:str}/cancel", name="operator_cancel")
    async def cancel(request: AnyRequest, job_id: FromPath[str]) -> Response[bytes]:
        """Cancel a job that does not run at the moment."""
        async with guard.open(request, "jobs.cancel", job_id=job_id) as record:
            job = await _job(work, job_id)
            await record.begin()
            if not await work.queue.cancel(job.id, record.agent):
                raise StateConflict(_state(job, "Only work that waits can be cancelled."))
            return answer(await _job(work, job.id), 200)

    return [redrive, cancel]


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


async def _webhook(work: WorkParts, webhook_id: str) -> StoredWebhook:
    found = await work.inbox.find(webhook_id)
    if found is None:
        raise UnknownPath(_NO_WEBHOOK)
    return found


async def _job(work: WorkParts, job_id: str) -> Job:
    found = await work.queue.find(job_id)
    if found is None:
        raise UnknownPath(_NO_JOB)
    return found


async def _redriven(
    work: WorkParts, job: Job, record: OpenRecord, *, force: bool
) -> Mapping[str, Any]:
    await record.begin()
    new = await work.queue.redrive(job.id, record.agent, force=force)
    if new is None:
        forgotten = job.kind == "call" and await work.queue.call(job.id) is None
        rule = _FORGOTTEN if forgotten else _REPEATING.get(job.state, _WAITS)
        raise StateConflict(_state(job, rule))
    work.wake()
    return {"job": new}


def _state(job: Job, rule: str) -> str:
    return f"The job {job.id} is {job.state}. {rule}"


async def _whole(work: WorkParts, webhook: StoredWebhook) -> dict[str, Any]:
    attempts = await work.queue.attempts(webhook.job.id)
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
