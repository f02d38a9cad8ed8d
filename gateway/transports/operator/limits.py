"""The use of limits for operators: `GET /operator/limits`."""

from typing import Annotated, Any

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from gateway.catalogue import Catalogue
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.policies.limits import AgentLimits, ToolLimits
from gateway.errors import UnknownOperation
from gateway.limits.rules import declared_max
from gateway.store.usage import CounterId, CounterReading, UsageStore
from gateway.transports.operator.guard import AnyRequest, OperatorGuard, answer, query_of

_MAX_LISTED = 1000


class LimitsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """How many counters to list."""

    limit: Annotated[int, Meta(ge=1, le=_MAX_LISTED)] = 200


def limit_routes(
    guard: OperatorGuard, usage: UsageStore, catalogue: Catalogue
) -> list[HTTPRouteHandler]:
    """The route."""

    @get("/operator/limits", name="operator_limits")
    async def list_limits(request: AnyRequest) -> Response[bytes]:
        """What is used of each limit. Limits of which nothing is used are not listed."""
        async with guard.open(request, "limits.list", is_poll=True):
            asked = query_of(request, LimitsRequest)
            found = await usage.readings(asked.limit)
            return answer({"items": [_item(each, catalogue) for each in found]})

    return [list_limits]


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
