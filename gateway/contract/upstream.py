"""An upstream as its contract declares it, and the two messages exchanged with it."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType


class UpstreamRequest(Struct, frozen=True, kw_only=True):
    """A request in the upstream's terms, before credentials and wire encoding.

    Path segments and query values are plain text: whoever puts them on the wire encodes them, and
    refuses the segments `.`, `..` and the empty one.
    """

    operation: str
    method: str
    path: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: Any | UnsetType = UNSET


class Reply(Struct, frozen=True, kw_only=True):
    """What came back over the wire. Header names are lower-case; the body is decoded and capped."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ReplyFacts(Struct, frozen=True, kw_only=True):
    """A reply as a field map reads it: `$response.…` and `$call.elapsed_ms`."""

    status: int
    headers: Mapping[str, str]
    body: Any
    elapsed_ms: int


class CredentialRule(Struct, frozen=True, kw_only=True):
    """A secret that the upstream asks for: setting `GATEWAY_<UPSTREAM>_<NAME>`."""

    name: str
    description: str
    is_required: bool = True


class HeaderRule(Struct, frozen=True, kw_only=True):
    """A header on every request. `{credential.x}` and `{now}` in the template are filled in.

    A rule that names an absent optional credential is left out.
    """

    name: str
    template: str


class RateHeaders(Struct, frozen=True, kw_only=True):
    """Reply headers in which the upstream tells its limit."""

    limit: str
    remaining: str
    reset_seconds: str


class UpstreamOperation(Struct, frozen=True, kw_only=True):
    """One operation of the upstream's OpenAPI contract, with self-contained schemas."""

    id: str
    method: str
    path: str
    """The path template, `/rfqs/{id}`."""
    parameters: tuple[dict[str, Any], ...] = ()
    """OpenAPI Parameter Objects."""
    request_schema: dict[str, Any] | None = None
    replies: Mapping[str, dict[str, Any] | None] = {}
    """JSON Schema by status or class of statuses; None where the body is not JSON or is empty."""
    examples: Mapping[str, Any] = {}
    """One example reply body by status."""


class Upstream(Struct, frozen=True, kw_only=True):
    """A system we call."""

    name: str
    title: str
    base_url: str | None
    """Default base URL; None when the operator must set `GATEWAY_<UPSTREAM>_BASE_URL`."""
    credentials: tuple[CredentialRule, ...] = ()
    headers: tuple[HeaderRule, ...] = ()
    soft_errors: str | None = None
    """JSON Pointer to a list in a 2xx body that, when not empty, makes the reply an error."""
    rate: RateHeaders | None = None
    mock: str | None = None
    """Module with the mock's behaviour, `gateway.handlers.<connector>_mock`."""
    operations: tuple[UpstreamOperation, ...] = ()
