"""An upstream as its contract declares it, and the two messages exchanged with it."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

PATH_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
"""A parameter in the path template of an operation."""


def status_names(status: int) -> tuple[str, str]:
    """How contracts name a status, by itself and by its class: `404`, then `4XX`."""
    return str(status), f"{status // 100}XX"


class UpstreamRequest(Struct, frozen=True, kw_only=True):
    """A request in the upstream's terms, before credentials and wire encoding.

    Path segments and query values are plain text: the backend that sends them encodes them, and
    refuses the segments `.`, `..` and the empty one.
    """

    operation: str
    method: str
    path: tuple[str, ...]
    """Each with the fixed text that the operation's template has around it, as `A1:B2:append`."""
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: Any | UnsetType = UNSET
    is_key_ours: bool = False
    """Whether its idempotency key was made for this call: a later call cannot repeat it safely."""


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
    kind: Literal["text", "json"] = "text"
    """`json`: a document such as a key file, which never travels as it is."""


class SettingRule(Struct, frozen=True, kw_only=True):
    """What the operator says of the upstream and is no secret: `GATEWAY_<UPSTREAM>_<NAME>`."""

    name: str
    description: str
    default: str | None = None
    """None when the live upstream cannot be used without it."""
    mock: str
    """Its value for a mock where the operator gives none and there is no default."""
    pattern: str
    """Regular expression that a value must match as a whole."""


class HeaderRule(Struct, frozen=True, kw_only=True):
    """A header on every request. `{credential.x}`, `{token}` and `{now}` are filled in.

    A rule that names an absent optional credential is left out.
    """

    name: str
    template: str


class QueryRule(Struct, frozen=True, kw_only=True):
    """A query parameter on every request: `{credential.x}` is filled in. No log ever shows it.

    A rule that names an absent optional credential is left out.
    """

    name: str
    template: str


TokenGrant = Literal["refresh_token", "client_credentials", "jwt_bearer"]
"""RFC 6749 §6, RFC 6749 §4.4 and RFC 7523 §2.1."""


class TokenRule(Struct, frozen=True, kw_only=True):
    """One way to get the access token that `{token}` stands for.

    It needs the credentials `client_id` and `client_secret` (and `refresh_token`), or, for
    `jwt_bearer`, `service_account_key`: the JSON key file of a Google service account. Of several
    rules the first is used whose credentials are all given.
    """

    grant: TokenGrant
    url: str
    """Absolute, or a path below the base URL. `GATEWAY_<UPSTREAM>_TOKEN_URL` overrules it."""
    operation: str
    """The operation of the contract that says how the token endpoint answers."""
    scopes: tuple[str, ...] = ()
    """Asked for, except by `refresh_token`: that gives what was granted with it."""


class RefusalRule(Struct, frozen=True, kw_only=True):
    """What an error of the upstream means when its status alone does not say it.

    Holds when the status is `status` (or of its class, `5XX`) and the text of the value at
    `pointer` in the JSON body is one of `values`. The first rule that holds decides.
    """

    status: str
    pointer: str
    values: tuple[str, ...]
    means: Literal[
        "rate_limited", "quota_used_up", "unavailable", "credentials", "token_expired", "rejected"
    ]


class RateHeaders(Struct, frozen=True, kw_only=True):
    """Reply headers in which the upstream reports how much of its limit is left."""

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
    takes_form: bool = False
    """Whether the request body travels as `application/x-www-form-urlencoded` instead of JSON."""
    idempotency_header: str | None = None
    """A request that bears this header may be sent again: the upstream acts on it once."""
    cache_seconds: float = 0.0
    """How long a reply with status 200 may be used again for the same request."""
    failure_seconds: float = 0.0
    """How long a failure is answered again without asking."""


class Upstream(Struct, frozen=True, kw_only=True):
    """A system we call."""

    name: str
    title: str
    base_url: str | None
    """Default base URL; None when the operator must set `GATEWAY_<UPSTREAM>_BASE_URL`."""
    credentials: tuple[CredentialRule, ...] = ()
    settings: tuple[SettingRule, ...] = ()
    headers: tuple[HeaderRule, ...] = ()
    query: tuple[QueryRule, ...] = ()
    tokens: tuple[TokenRule, ...] = ()
    refusals: tuple[RefusalRule, ...] = ()
    soft_errors: str | None = None
    """JSON Pointer to the list of errors in a body of any status. Bindings name their codes; a list
    that is not empty makes a 2xx an error."""
    rate: RateHeaders | None = None
    mock: str | None = None
    """Module with the mock's behaviour, `gateway.connectors.<connector>.mock`."""
    has_workspace: bool = False
    """Whether the workspace database takes its place instead of a mock."""
    tables: Mapping[str, dict[str, Any]] = {}
    """JSON Schema of a row, self-contained, by the name of its table."""
    operations: tuple[UpstreamOperation, ...] = ()

    def find(self, operation_id: str) -> UpstreamOperation | None:
        """The operation with this id, or None."""
        return next((each for each in self.operations if each.id == operation_id), None)
