"""The audit log for operators: `GET /operator/audit`, in pages."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Meta, Struct

from gateway.errors import UnknownPath
from gateway.store.protocols import AuditStore
from gateway.store.records import AuditQuery
from gateway.transports.operator.guard import (
    MAX_PAGE,
    AnyRequest,
    OperatorGuard,
    answer,
    query_of,
)

_Text = Annotated[str, Meta(min_length=1, max_length=200)]
_Moment = Annotated[datetime, Meta(tz=True)]


class AuditRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which records to list."""

    agent: _Text | None = None
    operation: _Text | None = None
    """An operation id, or a prefix of one that ends with `*`."""
    outcome: _Text | None = None
    """`ok`, a problem code, `PENDING`, `CUT_OFF`, or `error` for all failures."""
    job: _Text | None = None
    """The id of a job."""
    since: _Moment | None = None
    until: _Moment | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50
    after: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


def audit_routes(guard: OperatorGuard, audit: AuditStore) -> list[HTTPRouteHandler]:
    """All routes of `/operator/audit`."""

    @get("/operator/audit", name="operator_audit")
    async def list_records(request: AnyRequest) -> Response[bytes]:
        """Records, newest first. A page can be empty although there is a next one."""
        async with guard.open(request, "audit.list", is_poll=True):
            asked = query_of(request, AuditRequest)
            page = await audit.page(AuditQuery(**msgspec.structs.asdict(asked)))
            return answer({"items": page.records, "next": page.next})

    @get("/operator/audit/{record_id:str}", name="operator_audit_record")
    async def show_record(request: AnyRequest, record_id: FromPath[str]) -> Response[bytes]:
        """One record."""
        async with guard.open(request, "audit.show", record_id=record_id):
            found = await audit.find(record_id)
            if found is None:
                raise UnknownPath("There is no audit record with this id.")
            return answer(found)

    return [list_records, show_record]
