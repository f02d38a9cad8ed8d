"""The callers of MCP messages."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from gateway.auth.principal import Credentials, Principal
from gateway.calls.asking.questions import NOBODY, Asking
from gateway.calls.asking.wire import OpenQuestion
from gateway.calls.call import Call, CallBounds, Commitment, Result
from gateway.catalogue import Entry
from gateway.contract.context import ReportProgress, WriteLog
from gateway.contract.operation import Effect, Requirement
from gateway.publication.view import ToolView

AskClient: TypeAlias = Callable[[Mapping[str, OpenQuestion]], Awaitable[Mapping[str, Any]]]
"""Returns the client's answers to questions, by key. They are not checked yet.

Raises `NotAnswered`, and `LimitExceeded` if too many questions are open."""
CALLER: Final = "gateway.caller"
"""The key of the caller in the scope of a request that goes to the SDK."""
_SchemaOf: TypeAlias = Callable[[str], dict[str, Any] | None]
_schemas: Final[ContextVar[Sequence[_SchemaOf]]] = ContextVar("schemas", default=())
"""For the caller of the request that is being served. The SDK asks by the name only: which tool it
is, and whether there is one, depends on the caller. Empty: there is no such request."""


def header_schema(name: str) -> dict[str, Any] | None:
    """The schema by which the SDK compares headers with arguments. None: nothing to compare."""
    return next((schema_of(name) for schema_of in _schemas.get()), None)


@contextmanager
def header_schemas(schema_of: _SchemaOf) -> Iterator[None]:
    """The schemas of `header_schema`, until the block ends.

    What begins in the block, such as timers and connections, keeps its context. So the context gets
    a list that is emptied: it would keep the caller's key, and contracts that were replaced.
    """
    schemas = [schema_of]
    _schemas.set(schemas)
    try:
        yield
    finally:
        schemas.clear()


class Caller(Struct, frozen=True, kw_only=True):
    """The caller of an MCP message, and the endpoint that it uses."""

    principal: Principal
    credentials: Credentials
    transport: Literal["mcp", "stdio"]
    request_id: str
    connector: str | None = None
    """The connector whose tools are served under bare names; None serves all under full names."""
    session: str | None = None
    """The session that the request names, in the handshake revisions over HTTP."""
    view: ToolView = ToolView()
    progress: ReportProgress | None = None
    """See `Call.progress`."""
    log: WriteLog | None = None
    """See `Call.log`."""
    declared: frozenset[Requirement] = frozenset()
    """What the client of the request declares that it can do."""
    commitment: Commitment | None = None
    """That of the one call that a message makes."""

    answers: Mapping[str, Any] = {}
    """What its client answers to questions of the tool, by key. It is not checked yet."""
    state: str | None = None
    """The `requestState` that its client repeats."""
    ask: AskClient | None = None
    """Asks the client while it waits for the result, in the handshake revisions. None: a call that
    asks ends with its questions."""
    asking: Asking = NOBODY
    """See `Call.asking`."""

    @property
    def takes_tasks(self) -> bool:
        """Whether the client takes a task in place of the result of a call that becomes a job."""
        return "tasks" in self.declared

    def lacks(self, entry: Entry) -> tuple[Requirement, ...]:
        """What the tool of `entry` needs and the client does not declare."""
        required = entry.tool.requires
        return tuple(each for each in required if each not in self.declared) if required else ()


def call_of(
    caller: Caller,
    operation_id: str,
    arguments: bytes,
    bounds: CallBounds,
    effect: Effect | None = None,
    deliver: Callable[[Result], Result] | None = None,
) -> Call:
    """A call of `caller`. `effect` and `deliver`: see `Call`."""
    return Call(
        operation_id=operation_id,
        credentials=caller.credentials,
        arguments=arguments,
        transport=caller.transport,
        request_id=caller.request_id,
        bounds=bounds,
        effect=effect,
        progress=caller.progress,
        log=caller.log,
        deliver=deliver,
        commitment=caller.commitment,
        asking=caller.asking,
    )


def known(caller: Caller) -> Principal | None:
    """Over HTTP, each request proves its key. A process on stdio checks its key for each call."""
    return caller.principal if caller.transport == "mcp" else None
