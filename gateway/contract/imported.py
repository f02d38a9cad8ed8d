"""Operations of imported OpenAPI documents: the records of `generated/imported/<connector>.json`.

`gateway.authoring.openapi` makes them from a vendor's document. `gateway.encoding` makes the HTTP
request of a call. The catalogue serves them beside the tools that authors wrote.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.operation import CallPolicy, DeclaredError, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.slots import CredentialSlot

Location = Literal["path", "query", "header", "cookie", "querystring"]
"""Where a parameter is sent. `querystring` (OpenAPI 3.2) is the whole query."""

Style = Literal[
    "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject", "cookie"
]


ResultCheck = Literal["enforce", "report", "nulls-absent"]
"""What becomes of a reply that breaks the document. `enforce`: an error. `report`: it is logged and
passed on. `nulls-absent`: an error, if it does so without its optional members that are null too.
"""


class ImportedParameter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One parameter, and the member of the tool's arguments that holds its value."""

    member: str
    name: str
    """The name on the wire."""
    location: Location
    style: Style = "simple"
    explode: bool = False
    is_required: bool = False
    allow_reserved: bool = False
    """Whether reserved characters (RFC 3986 §2.2) are sent as they are. Query parameters only."""
    media_type: str | None = None
    """The value is serialized as this media type. `style` and `explode` are then not used."""
    fields: "tuple[BodyField, ...]" = ()
    """Of a `querystring` that is a form: how its members are sent, as for a body."""


class BodyField(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One member of a form or multipart body, as its Encoding Object describes it."""

    name: str
    """The property of the body's schema."""
    media_type: str | None = None
    """The Content-Type of the part. A second one, after a comma, is JSON, which lists and objects
    have. None: `style` is used (forms), or the default of its type."""
    style: Style | None = None
    """None: a list is sent item by item with a repeated name, and an object as JSON."""
    explode: bool = True
    allow_reserved: bool = False
    is_binary: bool = False
    """The value is base64 text. The decoded bytes are sent (multipart only)."""
    has_values: bool = False
    """Beside files, it admits values that are no texts. They are sent as those of other members."""
    is_list: bool = False
    """Each item is a part of its own (multipart only)."""
    headers: tuple[ImportedParameter, ...] = ()
    """Headers of the part. `member` is a member of the tool's arguments."""
    filename_member: str | None = None
    """The member of the tool's arguments that is the part's file name. A binary part without it
    has the field's name."""


class ImportedBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the request body is made of the arguments."""

    kind: Literal["json", "form", "multipart", "text", "binary", "lines"]
    """`lines`: a list, each item of which is JSON on a line of its own."""
    media_type: str
    member: str | None = None
    """The member of the arguments that is the whole body. None: `members` make the body."""
    media_type_member: str | None = None
    """The member of the arguments that is the Content-Type, if `media_type` is a range."""
    members: Mapping[str, str] = {}
    """Members of the arguments to members of the body."""
    is_required: bool = False
    """Without it, no body is sent when none of its members is given."""
    fields: tuple[BodyField, ...] = ()
    """For forms and multipart. Members without an entry are sent in the default way."""
    order: tuple[str, ...] = ()
    """For forms and multipart: the declared members in the order in which they are sent, that of
    the document. Other members follow in the order of the arguments."""


HEADERS: Final = "_headers"
"""The member of a result that has the upstream's header fields."""


class ImportedHeader(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A header field of a reply that results have. Its style is `simple`."""

    name: str
    """As the document writes it."""
    schema: dict[str, Any] | bool = True
    """Refers to the document's definitions as `#/$defs/<name>`."""
    is_required: bool = False
    explode: bool = False
    is_json: bool = False
    """The value is serialized as JSON. `explode` is then not used."""


class ImportedReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A declared reply with one media type."""

    status: str
    """`200`, `2XX` or `default`."""
    kind: Literal["json", "text", "binary", "events", "empty", "redirect"]
    """`events`: server-sent events or lines of JSON, which are collected. `redirect`: a 3xx of an
    operation that declares no other success, whose result is the address."""
    media_type: str | None = None
    """May be a range, such as `image/*`."""
    schema: dict[str, Any] | bool = True
    """Refers to the document's definitions as `#/$defs/<name>`. Of an event, for `events`."""
    is_whole_event: bool = False
    """Whether `schema` is that of a whole server-sent event, whose data is text (OpenAPI 3.2
    `itemSchema`), and not of the JSON in its data."""
    headers: tuple[ImportedHeader, ...] = ()
    """Those that results have."""

    @property
    def is_success(self) -> bool:
        """Whether the reply may be a success."""
        return self.kind == "redirect" or self.status.startswith("2") or self.status == "default"


class LinkValue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value that a link passes on: an argument, a part of the result, or a constant."""

    source: Literal["arguments", "result", "constant"]
    pointer: str = ""
    """Where it is in the arguments or in the result of the tool."""
    constant: Any = None


class LinkInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An argument of the operation that a link leads to."""

    member: str | None = None
    """None: the value is the body, whose members are arguments."""
    parts: tuple[LinkValue, ...]
    """One is the value itself. Several are joined as text."""


class ImportedLink(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A link of a reply (OpenAPI 3.2 §4.20 Link Object): `gateway test` follows it."""

    name: str
    status: str
    pointer: str
    """The JSON Pointer to the link in the vendor's document."""
    target: str = ""
    """The id of the tool that it leads to."""
    inputs: tuple[LinkInput, ...] = ()
    problem: str | None = None
    """Why it cannot be followed."""


class SecurityUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A credential slot that a requirement names."""

    slot: str
    scopes: tuple[str, ...] = ()


class ImportedOperation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One operation that is served as a tool."""

    id: str
    """`<connector>.<tool>`."""
    tool: str
    title: str
    description: str
    effect: Effect
    is_idempotent: bool
    pointer: str
    """The JSON Pointer to the operation in the vendor's document."""
    method: str
    path: str
    """The path template."""
    fixed_query: tuple[tuple[str, str], ...] = ()
    """Names and values that each request has, before those of the arguments."""
    server: str | None = None
    """The base URL, if it differs from the document's."""
    input_schema: dict[str, Any]
    """An object. Refers to the document's definitions as `#/$defs/<name>`."""
    parameters: tuple[ImportedParameter, ...] = ()
    body: ImportedBody | None = None
    replies: tuple[ImportedReply, ...] = ()
    security: tuple[tuple[SecurityUse, ...], ...] = ()
    """Alternatives. All uses of one alternative are needed. Empty: no credential is sent."""
    errors: tuple[DeclaredError, ...] = ()
    sensitive: tuple[str, ...] = ()
    """JSON Pointers of arguments that no log, audit record or trace may contain. `*` stands for any
    step."""
    aliases: tuple[str, ...] = ()
    links: tuple[ImportedLink, ...] = ()
    selects_fields: bool = False
    """See `Operation.selects_fields`. The input schema is without the argument."""
    longest_text: int = 0
    """The largest `maxLength` in the input schema and the definitions that it needs."""
    collects_events: bool = False
    """Whether a success may be a sequence of events, which is collected."""
    file_types: tuple[str, ...] = ()
    """See `Operation.file_types`."""
    limits: ToolLimits | None = None
    """None: there are only those of its callers' agents."""
    tags: tuple[str, ...] = ()
    """Those of the vendor's document. Grants may name them."""
    policy: CallPolicy = CallPolicy()
    results: ResultCheck = "enforce"


class ImportedConnector(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All operations of one imported document."""

    connector: str
    title: str
    base_url: str | None
    """Default base URL. None: the operator must set `GATEWAY_<CONNECTOR>_BASE_URL`."""
    sha256: str
    """Digest of the vendor's bytes."""
    operations: tuple[ImportedOperation, ...]
    """Those that are tools."""
    bound: tuple[ImportedOperation, ...] = ()
    """Those that only tools with contract files call."""
    slots: tuple[CredentialSlot, ...] = ()
    definitions: Mapping[str, Any] = {}
    """Schemas that the operations refer to, JSON Schema 2020-12, by name."""

    @property
    def callable_operations(self) -> tuple[ImportedOperation, ...]:
        """All operations that a call can reach."""
        return (*self.operations, *self.bound)
