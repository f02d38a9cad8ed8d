"""The callers of MCP messages."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from gateway.auth.principal import Credentials, Principal
from gateway.calls.call import Call, CallBounds, Commitment, Result
from gateway.contract.context import ReportProgress
from gateway.contract.operation import Effect
from gateway.publication.view import ToolView


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
    commitment: Commitment | None = None
    """That of the one call that a message makes."""


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
        deliver=deliver,
        commitment=caller.commitment,
    )


def known(caller: Caller) -> Principal | None:
    """Over HTTP, each request proves its key. A process on stdio checks its key for each call."""
    return caller.principal if caller.transport == "mcp" else None
