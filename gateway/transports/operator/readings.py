"""What operators read: the audit log, events, the use of limits, readiness and metrics."""

import resource
import sys
import time
from typing import Annotated, Any, Final

import msgspec
from litestar import Controller, Response, get
from msgspec import Meta, Struct

from gateway.catalogue import Catalogue
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.policies.limits import AgentLimits, ToolLimits
from gateway.errors import UnknownOperation, UnknownPath
from gateway.events.cloudevents import TypeFilter
from gateway.limits.rules import declared_max
from gateway.observability.metrics import CONTENT_TYPE
from gateway.store.protocols import AuditRecord, EventLog
from gateway.store.publishing import looked_up_to
from gateway.store.records import AuditQuery
from gateway.store.usage import CounterId, CounterReading
from gateway.transports.operator.guard import (
    AnyRequest,
    Id,
    Limit,
    Moment,
    Name,
    Parts,
    PathId,
    Shown,
    query_of,
)

_MAX_LISTED = 1000
_MEBIBYTE: Final = 2**20
_STATM: Final = "/proc/self/statm"
_STARTED: Final = time.monotonic()


class AuditRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which records to list."""

    agent: Name | None = None
    operation: Name | None = None
    """An operation id, or a prefix of one that ends with `*`."""
    outcome: Name | None = None
    """`ok`, a problem code, `PENDING`, `CUT_OFF`, or `error` for all failures."""
    job: Name | None = None
    """The id of a job."""
    since: Moment | None = None
    until: Moment | None = None
    limit: Limit = 50
    after: Id | None = None


class EventQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which events to list."""

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """A position in the log. None is the end of the log, after which there are no events yet."""
    types: Annotated[str, Meta(max_length=2000)] = ""
    """Types, or prefixes that end with `*`, separated by commas. Empty means all types."""
    limit: Limit = 50


class LimitsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """How many counters to list."""

    limit: Annotated[int, Meta(ge=1, le=_MAX_LISTED)] = 200


class ProcessFigures(Struct, frozen=True, kw_only=True):
    """What this process uses."""

    memory_usage_mb: float
    """Resident memory, in mebibytes."""
    cpu_usage_percent: float
    """Of one core, on average since the start."""


class ReadingController(Controller):
    """What is only read. Metrics are for operators: they name the tools and how often they are
    called."""

    @get("/operator/audit", name="operator_audit")
    async def list_records(self, request: AnyRequest, parts: Parts) -> Shown:
        """Records, newest first. A page can be empty although there is a next one."""
        async with parts.guard.open(request, "audit.list", is_poll=True):
            asked = query_of(request, AuditRequest)
            page = await parts.audit.page(AuditQuery(**msgspec.structs.asdict(asked)))
            return {"items": page.records, "next": page.next}

    @get("/operator/audit/{record_id:str}", name="operator_audit_record")
    async def show_record(
        self, request: AnyRequest, parts: Parts, record_id: PathId
    ) -> AuditRecord:
        """One record."""
        async with parts.guard.open(request, "audit.show"):
            found = await parts.audit.find(record_id)
            if found is None:
                raise UnknownPath("There is no audit record with this id.")
            return found

    @get("/operator/events", name="operator_events")
    async def list_events(self, request: AnyRequest, parts: Parts) -> Shown:
        """Events after a position, oldest first, and the position of the next page."""
        async with parts.guard.open(request, "events.list", is_poll=True):
            return await _events(parts.events, query_of(request, EventQuery))

    @get("/operator/limits", name="operator_limits")
    async def list_limits(self, request: AnyRequest, parts: Parts) -> Shown:
        """What is used of each limit. Limits of which nothing is used are not listed."""
        async with parts.guard.open(request, "limits.list", is_poll=True):
            asked = query_of(request, LimitsRequest)
            found = await parts.usage.readings(asked.limit)
            return {"items": [_item(each, parts.catalogue) for each in found]}

    @get("/operator/readiness", name="operator_readiness")
    async def show_readiness(self, request: AnyRequest, parts: Parts) -> Shown:
        """What `/readyz` says, with the backend and the problem of each upstream."""
        async with parts.guard.open(request, "readiness.show", is_poll=True):
            return (await parts.check_readiness()).whole

    @get("/metrics", name="metrics")
    async def show_metrics(self, request: AnyRequest, parts: Parts) -> Response[bytes]:
        """All metrics of this process, in the text format of Prometheus."""
        async with parts.guard.open(request, "metrics.read", is_poll=True):
            text = parts.metrics.text(await parts.read_all())
            return Response(text, media_type=CONTENT_TYPE)

    @get("/metrics.json", name="metrics_json")
    async def show_figures(self, request: AnyRequest, parts: Parts) -> Shown:
        """The counts and times of calls, as `MCPServerMetrics` of the base server names them."""
        async with parts.guard.open(request, "metrics.figures", is_poll=True):
            process = process_figures(time.monotonic() - _STARTED)
            return {
                **msgspec.to_builtins(parts.metrics.calls.figures()),
                "active_connections": parts.metrics.open_connections,
                **msgspec.to_builtins(process),
            }


async def _events(log: EventLog, asked: EventQuery) -> Shown:
    bounds = await log.bounds()
    if asked.after is None:
        return {"items": [], "next": bounds[1]}
    wanted = TypeFilter.of(list(filter(None, asked.types.split(","))))
    found = await log.after(asked.after, asked.limit, wanted.types)
    # A full page ends at its last event. The page after one with fewer events can skip what that
    # has looked at: the events of other types.
    is_full = len(found) == asked.limit
    ended = found[-1].position if is_full else looked_up_to(asked.after, bounds)
    return {"items": [msgspec.to_builtins(each) for each in found], "next": ended}


def _item(reading: CounterReading, catalogue: Catalogue) -> dict[str, Any]:
    counter, usage = reading.counter, reading.usage
    return {
        "agent": counter.agent,
        "subject": counter.subject or None,
        "tool": counter.operation or None,
        "limit": counter.limit,
        "used": usage.used,
        "max": declared_max(_declared(counter, catalogue), counter.limit),
        "returns_at": None if usage.until is None else rfc3339(usage.until),
    }


def _declared(counter: CounterId, catalogue: Catalogue) -> ToolLimits | AgentLimits | None:
    if not counter.operation:
        return catalogue.limits.get(counter.agent)
    try:
        return catalogue.find(counter.operation).operation.limits
    except UnknownOperation:
        return None


def process_figures(seconds: float) -> ProcessFigures:
    """The figures of this process, which has run for `seconds`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = usage.ru_utime + usage.ru_stime
    return ProcessFigures(
        memory_usage_mb=round(_resident_bytes(usage.ru_maxrss) / _MEBIBYTE, 1),
        cpu_usage_percent=round(spent / max(seconds, 0.001) * 100, 1),
    )


def _resident_bytes(largest: int) -> int:
    """The resident memory. `largest`, its largest value so far, is used where no more is known."""
    try:
        with open(_STATM, encoding="ascii") as statm:  # noqa: PTH123 - a file of the kernel
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return largest if sys.platform == "darwin" else largest * 1024
