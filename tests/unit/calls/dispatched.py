"""Calls of one tool that a `Dispatcher` runs, with an upstream that answers as a test says."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from gateway.auth.principal import Credentials, Grant, Permit, Principal
from gateway.calls.call import Arguments, Call, Outcome
from gateway.calls.dispatch import Dispatcher
from gateway.calls.replies import ReplyReader
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Entry, ToolListing
from gateway.contract.context import CallFacts
from gateway.contract.operation import (
    Attempts,
    Binding,
    DeclaredError,
    Effect,
    HttpBinding,
    Operation,
    PythonBinding,
    Tool,
)
from gateway.contract.upstream import (
    Reply,
    ReplyFacts,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.contract.values.schema import Validator
from gateway.errors import GatewayError
from tests.entity_rows import NoEntities

ZOO = Upstream(
    name="zoo",
    title="Zoo",
    base_url=None,
    operations=tuple(
        UpstreamOperation(id=name, method=method, path=f"/{name}", replies={"200": {}})
        for name, method in (("search", "GET"), ("open", "GET"), ("feed", "POST"))
    ),
)


class TickingClock:
    """Ten milliseconds pass whenever it is looked at; the date stands still."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 20, tzinfo=UTC)

    def monotonic(self) -> float:
        self.seconds += 0.01
        return self.seconds


class Upstreams:
    """A backend that answers each operation with one status and remembers what was sent."""

    name: Literal["mock"] = "mock"

    def __init__(
        self,
        statuses: Mapping[str, int],
        failure: GatewayError | None = None,
        *,
        body: Mapping[str, Any] = {},
    ) -> None:
        self.statuses = statuses
        self.failure = failure
        self.body = json.dumps(body).encode()
        self.sent: list[UpstreamRequest] = []

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        self.sent.append(request)
        if self.failure is not None:
            raise self.failure
        headers = {"content-type": "application/json"}
        return Reply(status=self.statuses[request.operation], headers=headers, body=self.body)

    async def close(self) -> None: ...


def to_result(arguments: Any, call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {"from": call.id, "at": call.now, "ms": reply.elapsed_ms}


def ask(name: str) -> Any:
    return lambda arguments, call: UpstreamRequest(operation=name, method="POST", path=(name,))


OPEN = HttpBinding(
    upstream="zoo", upstream_operation="open", request=ask("open"), results={"200": to_result}
)
FEED = HttpBinding(
    upstream="zoo", upstream_operation="feed", request=ask("feed"), results={"200": to_result}
)
SEARCH = HttpBinding(
    upstream="zoo",
    upstream_operation="search",
    request=ask("search"),
    results={"200": to_result},
    fallback_on=("403",),
    fallback=OPEN,
)


def permit_for(
    binding: Binding,
    timeout_seconds: float = 1.0,
    effect: Effect = Effect.READ,
    attempts: int = 1,
    sensitive: tuple[str, ...] = (),
) -> Permit:
    operation = Operation(
        id="zoo.look",
        connector="zoo",
        title="Look",
        description="Look.",
        effect=effect,
        timeout_seconds=timeout_seconds,
        errors=(DeclaredError(reason="asleep", status=409, title="It sleeps."),),
        attempts=Attempts(max=attempts, backoff_seconds=()),
        binding=binding,
        route="/v1/zoo/look",
        sensitive=sensitive,
    )
    tool = Tool(
        operation=operation.id,
        name="zoo_look",
        bare_name="look",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    )
    listing = ToolListing(
        name="zoo_look", title="", description="", input_schema={}, output_schema={}, annotations={}
    )
    entry = Entry(operation, tool, listing, Validator({}), Validator({}))
    return Permit(Grant(Principal(subject="key", agent="keeper"), entry))


class Unread:
    """A workspace that these tests do not read."""


async def dispatch(
    permit: Permit,
    backend: Upstreams | None = None,
    tables: Any = None,
    *,
    effect: Effect | None = None,
    upstream: Upstream = ZOO,
) -> Outcome:
    """`effect` is that of the arguments, where they make a read a write."""
    connection = UpstreamConnection(
        upstream, backend or Upstreams({}), ReplyReader(upstream), tables=tables
    )
    dispatcher = Dispatcher({"zoo": connection}, TickingClock(), NoEntities())
    call = Call(
        operation_id="zoo.look",
        credentials=Credentials(),
        arguments=b"{}",
        transport="local",
        request_id="call-1",
    )
    arguments = Arguments({"name": "Leo"}, effect or permit.entry.operation.effect)
    return await dispatcher.dispatch(permit, arguments, call)


def handler(run: Any) -> PythonBinding:
    return PythonBinding(run=run)
