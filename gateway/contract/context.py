"""What a Python handler may use besides its arguments, as its binding names it."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from msgspec import UNSET, Struct, UnsetType

from gateway.contract.rows.entity import EntityPages
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables


class CallFacts(Struct, frozen=True, kw_only=True):
    """What a field map may know of the call besides its arguments (`$call.…`)."""

    id: str
    now: str
    """When the call arrived, RFC 3339 in UTC."""
    settings: Mapping[str, str] = {}
    """The upstream's settings that are no secrets (`$settings.…`)."""


class UpstreamCall(Struct, frozen=True):
    """What a handler asks of an upstream: an operation of its contract, and the values for it."""

    upstream: str
    operation: str
    path: Mapping[str, str] = {}
    query: Mapping[str, str | Sequence[str]] = {}
    """A list repeats its parameter."""
    headers: Mapping[str, str] = {}
    body: Any | UnsetType = UNSET
    is_key_ours: bool = False
    """Whether the idempotency key in `headers` was made for this call and not by the caller."""
    patience_seconds: float | None = None
    """Time for all attempts; that of the call when it is not said."""


class UpstreamReply(Struct, frozen=True, kw_only=True):
    """A reply that the upstream's contract has admitted."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Any
    """The JSON value; None where the contract says that there is none."""


class CallContext(Protocol):
    """One call's way to the upstreams."""

    @property
    def call(self) -> CallFacts: ...

    async def send(self, asked: UpstreamCall, *, expect: Collection[int] = ()) -> UpstreamReply:
        """Send one request, as often as the tool's contract says and is safe; read the reply.

        Raises `UpstreamError` for every reply that is no success, but for the statuses in `expect`,
        and `InvalidReply` for one that breaks the contract.
        """
        ...

    def setting(self, upstream: str, name: str) -> str:
        """A setting of the upstream that is no secret."""
        ...

    def shape(self, upstream: str, table: str) -> Shape:
        """The columns of a table of the upstream, as its contract declares them."""
        ...

    def workspace(self, upstream: str) -> Tables | None:
        """The workspace database, where it stands in for the upstream; None where that is live."""
        ...

    @property
    def entities(self) -> EntityPages:
        """The rows that webhooks wrote."""
        ...

    def exclusive(self, key: str) -> AbstractAsyncContextManager[None]:
        """Hold `key` for the length of a block: other calls of this process wait for it."""
        ...
