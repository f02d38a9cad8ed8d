"""Upstreams as their contracts declare them, and the requests and replies exchanged with them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType, field

from gateway.contract.slots import CredentialSlot

PATH_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
"""A parameter in the path template of an operation."""


def status_names(status: int) -> tuple[str, str]:
    """The two names of a status in contracts, its number and its class: `404` and `4XX`."""
    return str(status), f"{status // 100}XX"


Watch = Callable[[Mapping[str, str], bytes], None]
"""Gets each piece of the body of a success while it arrives, and the header fields of the reply.
It raises nothing. A body with a content coding is not watched. Where the status decides, it is
called for each status, with no bytes, when the head has arrived."""


class Departure(Struct):
    """How far a request has come, for whoever stops waiting for it."""

    is_unsent: bool = False
    """Whether it certainly has not left: it waits for a token, a place or a connection."""
    caller: str = ""
    """Whose call it is. Callers take turns when their replies are large."""


class EncodedRequest(Struct, frozen=True, kw_only=True):
    """The parts of a request that are already in their HTTP form, relative to the base URL."""

    target: str
    """Percent-encoded path and query, from the first `/`."""
    headers: tuple[tuple[str, str], ...] = ()
    media_type: str | None = None
    """The Content-Type of the body. None: there is no body."""
    body: bytes = b""


class UpstreamRequest(Struct, frozen=True, kw_only=True):
    """A request to an upstream, before credentials are added and before it is encoded.

    Path segments and query values are plain text. The backend encodes them, and refuses the
    segments `.`, `..` and the empty one.
    """

    operation: str
    method: str
    path: tuple[str, ...]
    """Segments, each with the fixed text around its parameter in the template: `A1:B2:append`."""
    path_arguments: tuple[str, ...] = ()
    """For each segment, JSON Pointers to the arguments in it, for errors. Empty: not known."""
    query: tuple[tuple[str, Any], ...] = ()
    """Names and texts. The value of a parameter with the style `deepObject` is any JSON value."""
    headers: tuple[tuple[str, str], ...] = ()
    body: Any | UnsetType = UNSET
    encoded: EncodedRequest | None = None
    """The request of an imported operation. Path, query, headers and body are then empty."""
    server: str | None = None
    """The base URL, if it is not the upstream's."""
    slots: tuple[tuple[str, ...], ...] = ()
    """Of an imported operation: alternatives of credential slots. The first one whose slots are all
    set is sent. An empty alternative needs none."""
    scopes: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """The scopes that each slot of `slots` needs, in the same order. Empty: none."""
    watch: Watch | None = None
    departure: Departure = field(default_factory=Departure)
    admits_redirect: bool = False
    """Whether a redirect is a reply, which is not followed. Otherwise it is an error."""
    is_key_ours: bool = False
    """Whether the gateway made the idempotency key for this call. A later call then gets another
    key, so the request is not safe to repeat in it."""


class Reply(Struct, frozen=True, kw_only=True):
    """A reply as received. Header names are lower-case; the body is decompressed and limited."""

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
    """A secret that the upstream requires: the setting `GATEWAY_<UPSTREAM>_<NAME>`."""

    name: str
    description: str
    is_required: bool = True
    mistaken: Mapping[str, str] = {}
    """What is easily set in its place: how that begins, and what to do."""
    kind: Literal["text", "json", "pem"] = "text"
    """`json`: a document such as a key file, which is never sent itself. `pem`: a certificate or
    a private key (RFC 7468)."""


class SettingRule(Struct, frozen=True, kw_only=True):
    """A setting of the upstream that is not secret: `GATEWAY_<UPSTREAM>_<NAME>`."""

    name: str
    description: str
    default: str | None = None
    """None: the operator must set it to use the live upstream."""
    mock: str
    """The value for the mock, if the operator sets none and there is no default."""
    pattern: str
    """Regular expression that the whole value must match."""


class HeaderRule(Struct, frozen=True, kw_only=True):
    """A header of every request. `{credential.x}`, `{token}` and `{now}` are replaced.

    It is not sent if it names an optional credential that is not set.
    """

    name: str
    template: str


class QueryRule(Struct, frozen=True, kw_only=True):
    """A query parameter of every request. `{credential.x}` is replaced. Logs never contain it.

    It is not sent if it names an optional credential that is not set.
    """

    name: str
    template: str


TokenGrant = Literal["refresh_token", "client_credentials", "jwt_bearer"]
"""RFC 6749 §6, RFC 6749 §4.4 and RFC 7523 §2.1."""


class TokenRule(Struct, frozen=True, kw_only=True):
    """One way to get the access token that replaces `{token}`.

    It needs the credentials `client_id` and `client_secret` (and `refresh_token`), or, for
    `jwt_bearer`, `service_account_key`: the JSON key file of a Google service account. The first
    rule whose credentials are all set is used.
    """

    grant: TokenGrant
    url: str
    """Absolute, or a path below the base URL. `GATEWAY_<UPSTREAM>_TOKEN_URL` overrides it."""
    operation: str
    """The operation of the contract that describes the token endpoint."""
    scopes: tuple[str, ...] = ()
    """The requested scopes. `refresh_token` requests none: the refresh token has its scopes."""
    client_auth: Literal["body", "header"] = "body"
    """Where the client authenticates (RFC 6749 §2.3.1): in the form, or by HTTP Basic."""


RefusalMeaning = Literal[
    "rate_limited",
    "quota_used_up",
    "unavailable",
    "credentials",
    "token_expired",
    "not_set_up",
    "not_found",
    "rejected",
]
"""`credentials`: the vendor names them as the cause. `not_set_up`: something else that only the
operator can change. `not_found`: what the arguments name does not exist."""


class RefusalRule(Struct, frozen=True, kw_only=True):
    """The meaning of an upstream's error that its status alone does not show.

    The rule matches if the reply has the status or class `status` (`5XX`), and the text of the
    value at `pointer` in the JSON body is one of `values` or begins with one of `begins`. The first
    matching rule is used.
    """

    status: str
    pointer: str
    values: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    means: RefusalMeaning
    fix: str = ""
    """What the operator has to do about it."""
    has_happened: bool = True
    """Whether a write that is refused like this may have happened all the same."""


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
    """JSON Schema by status or class of statuses. None if the body is empty or not JSON."""
    examples: Mapping[str, Any] = {}
    """One example reply body by status."""
    takes_form: bool = False
    """Whether the request body is sent as `application/x-www-form-urlencoded` instead of JSON."""
    encoding: Mapping[str, dict[str, Any]] = {}
    """OpenAPI Encoding Objects of the members of a form, by name."""
    is_body_required: bool = True
    """Without it, a body without members is not sent."""
    idempotency_header: str | None = None
    """A request with this header may be sent again, because the upstream executes it once."""
    rows: str | None = None
    """JSON Pointer to a list in the reply whose items are independent: a broken one is left out."""
    cache_seconds: float = 0.0
    """How long a reply with status 200 is cached for the same request."""
    failure_seconds: float = 0.0
    """How long a failure is cached: the same request fails again without being sent."""
    slots: tuple[tuple[str, ...], ...] = ()
    """Alternatives of credential slots: see `UpstreamRequest.slots`."""
    scopes: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """The scopes that each slot of `slots` needs: see `UpstreamRequest.scopes`."""


class Upstream(Struct, frozen=True, kw_only=True):
    """A system that the gateway calls."""

    name: str
    title: str
    base_url: str | None
    """Default base URL. None: the operator must set `GATEWAY_<UPSTREAM>_BASE_URL`."""
    base_paths: Mapping[str, str] = {}
    """The path of a base URL at hosts whose names end like this."""
    credentials: tuple[CredentialRule, ...] = ()
    settings: tuple[SettingRule, ...] = ()
    headers: tuple[HeaderRule, ...] = ()
    query: tuple[QueryRule, ...] = ()
    slots: tuple[CredentialSlot, ...] = ()
    """The credentials among which its operations choose."""
    tokens: tuple[TokenRule, ...] = ()
    refusals: tuple[RefusalRule, ...] = ()
    errors_at: tuple[str, ...] = ()
    """JSON Pointers, the first to the code of an error. A body of an error without a value at any
    of them is not the upstream's: a proxy or another server sent it. Empty: any body may be."""
    soft_errors: str | None = None
    """JSON Pointer to the list of errors in a body of any status. Bindings name the codes of these
    errors. A 2xx reply is an error if the list is not empty."""
    rate: RateHeaders | None = None
    mock: str | None = None
    """Module with the mock's behaviour, `gateway.connectors.<connector>.mock`."""
    has_workspace: bool = False
    """Whether the workspace database replaces the upstream, instead of a mock."""
    tables: Mapping[str, dict[str, Any]] = {}
    """JSON Schema of a row, without references, by table name."""
    operations: tuple[UpstreamOperation, ...] = ()

    def find(self, operation_id: str) -> UpstreamOperation | None:
        """The operation with this id, or None."""
        return next((each for each in self.operations if each.id == operation_id), None)


# The settings of credential slots, as those of the upstream that has the slots.

_MEANINGS: Final = {
    "username": "User name of HTTP Basic.",
    "password": "Password of HTTP Basic.",
    "client_id": "Id of the client to which access tokens are issued.",
    "client_secret": "Secret of the client.",
    "refresh_token": "Refresh token, instead of the client's own grant.",
    "certificate": "Client certificate for TLS with its chain, PEM.",
    "key": "Private key of the client certificate, PEM, without a password.",
}
"""The credentials of a slot, by the end of their names."""


def credential_rules(slots: Iterable[CredentialSlot]) -> Iterator[CredentialRule]:
    """The secrets of `slots`. None is required by itself: requests choose among the slots."""
    for slot in slots:
        yield from _rules(slot)


def token_settings(slots: Iterable[CredentialSlot]) -> Iterator[SettingRule]:
    """The settings of the token endpoints of `slots`."""
    for slot in slots:
        if slot.kind == "oauth2":
            url, client_auth = slot.token_settings
            yield SettingRule(
                name=url,
                description="URL at which its access tokens are issued.",
                default=slot.token_url or "",
                mock="",
                pattern="https?://.+",
            )
            yield SettingRule(
                name=client_auth,
                description="Where the client authenticates: a header (HTTP Basic), or the body.",
                default="header",
                mock="header",
                pattern="header|body",
            )


def _rules(slot: CredentialSlot) -> Iterator[CredentialRule]:
    for name in slot.settings:
        meaning = _MEANINGS.get(name.removeprefix(f"{slot.name}_"))
        yield CredentialRule(
            name=name,
            description=_meaning(slot) if name == slot.name or meaning is None else meaning,
            is_required=False,
            kind="pem" if slot.kind == "mutual_tls" else "text",
        )


def _meaning(slot: CredentialSlot) -> str:
    if slot.kind != "api_key":
        return "Access token."
    place = {"query": "query parameter", "cookie": "cookie"}.get(slot.location or "", "header")
    return f"API key, sent in the {place} {slot.key_name}."
