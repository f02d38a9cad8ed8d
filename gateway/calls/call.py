"""One request to run one operation, and what comes of it."""

from collections.abc import Awaitable
from typing import Any, Literal, Protocol

from msgspec import Struct

from gateway.auth.principal import Credentials
from gateway.contract.operation import Effect

BackendName = Literal["live", "mock", "python", "workspace"]


class Call(Struct, frozen=True, kw_only=True):
    """Who wants what, as a transport read it."""

    operation_id: str
    credentials: Credentials
    arguments: bytes
    """The JSON text of the arguments, undecoded: one strict reading serves every door."""
    transport: Literal["rest", "mcp", "stdio", "local"]
    request_id: str


class Arguments(Struct, frozen=True):
    """Arguments that the input schema has admitted."""

    values: dict[str, Any]
    effect: Effect
    """What the call does with these arguments."""


class Outcome(Struct, frozen=True):
    """What a backend made of the arguments, not yet checked."""

    values: Any
    backend: BackendName


class Result(Struct, frozen=True):
    """A result that the output schema has admitted."""

    values: dict[str, Any]
    text: bytes
    """The same as JSON text, encoded once for every door."""
    backend: BackendName


class Invoke(Protocol):
    """`Pipeline.invoke`, as transports are given it."""

    def __call__(self, call: Call, refusal: BaseException | None = None) -> Awaitable[Result]: ...
