"""The callers of MCP messages, and what exists for them beside tools."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from gateway.audit.log import AuditLog, OpenRecord
from gateway.auth.authorize import Policy
from gateway.auth.principal import Credentials, Identification, Principal
from gateway.calls.asking import NOBODY, Asking, OpenQuestion
from gateway.calls.call import UNBOUNDED, Call, CallBounds, Commitment, Result
from gateway.catalogue import Catalogue, Entry
from gateway.contract.context import ReportProgress, WriteLog
from gateway.contract.operation import Effect, Requirement
from gateway.errors import UnknownOperation
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


class OfferedAccess(Struct, frozen=True):
    """What the contracts offer beside tools, to whom, and where reading it is recorded."""

    catalogue: Catalogue
    policy: Policy
    identification: Identification
    audit: AuditLog

    def sees(self, caller: Caller, grant: str, connector: str) -> bool:
        """Whether something of `connector` that needs `grant` exists for `caller`.

        If the grant is a tool, it exists exactly when the tool does.
        """
        if "/" not in grant:
            return self.tool(caller, grant) is not None
        is_here = caller.connector in {None, connector}
        return is_here and self.policy.allows(caller.principal.agent, grant)

    def tool(self, caller: Caller, operation_id: str) -> Entry | None:
        """The entry of an operation that `caller` may call at its endpoint. None if it may not."""
        if not self.policy.allows(caller.principal.agent, operation_id):
            return None
        try:
            entry = self.catalogue.find(operation_id)
        except UnknownOperation:
            return None
        is_here = caller.connector in {None, entry.operation.connector}
        shown = self.policy.shown(caller.principal.agent, entry)
        return shown if is_here and not caller.lacks(entry) else None

    def tools(self, caller: Caller) -> list[Entry]:
        """The entries of all operations that `caller` may call at its endpoint, by id."""
        visible = self.policy.visible(caller.principal, self.catalogue)
        return [
            entry
            for entry in visible
            if caller.connector in {None, entry.operation.connector} and not caller.lacks(entry)
        ]

    @asynccontextmanager
    async def recorded(self, caller: Caller, operation_id: str) -> AsyncIterator[OpenRecord]:
        """Write one audit record, with the outcome of the block. Raises `Unauthenticated`.

        The block sets the `result` of the record if it removes hidden characters.

        The record has no URI and no arguments: they may be personal, and no contract marks them.
        """
        async with self.audit.open(call_of(caller, operation_id, b"", UNBOUNDED)) as record:
            principal = known(caller)
            if principal is None:
                principal = await self.identification.identify(caller.credentials)
            record.principal = principal
            yield record
