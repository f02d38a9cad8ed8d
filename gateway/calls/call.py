"""One request to run one operation, and what comes of it."""

from collections.abc import Awaitable
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from gateway.auth.principal import Credentials, Principal
from gateway.contract.operation import Effect

BackendName = Literal["live", "mock", "python", "workspace"]


class CallBounds(Struct, frozen=True, kw_only=True):
    """What a caller wants less of than the tool's contract allows. More is never given."""

    timeout_seconds: float | None = None
    max_attempts: int | None = None
    """Of each request that is safe to repeat."""


UNBOUNDED: Final = CallBounds()


class Call(Struct, frozen=True, kw_only=True):
    """Who wants what, as a transport read it."""

    operation_id: str
    credentials: Credentials
    arguments: bytes
    """The JSON text of the arguments, undecoded: one strict reading serves every transport."""
    transport: Literal["rest", "mcp", "stdio", "local"]
    request_id: str
    bounds: CallBounds = UNBOUNDED


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
    """The same as JSON text, encoded once for every transport."""
    backend: BackendName
    hidden_characters: int = 0
    """How many characters that no reader sees were removed from it."""


class Invoke(Protocol):
    """`Pipeline.invoke`, as transports are given it."""

    def __call__(
        self,
        call: Call,
        refusal: BaseException | None = None,
        principal: Principal | None = None,
    ) -> Awaitable[Result]: ...
