"""Operations as their contracts declare them: the records of the generated tables."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal, NoReturn

from msgspec import Struct

from gateway.contract.context import CallContext, CallFacts, ReportProgress
from gateway.contract.policies.limits import ToolLimits
from gateway.contract.policies.questions import AskKind
from gateway.contract.refusals import UpstreamAnswer
from gateway.contract.upstream import Reply, ReplyFacts, UpstreamRequest, Watch
from gateway.contract.values.files import FileContent


class Effect(StrEnum):
    """What a call changes (compare RFC 9110 safe and idempotent methods, MCP tool hints)."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"


TaskMode = Literal["never", "auto", "required"]
"""Whether a call may become a job. `auto`: if it takes long. `required`: each call is one."""

Requirement = Literal["tasks"] | AskKind
"""What an MCP client must declare to call a tool: `x-mcp.requires`."""

JOB_AFTER_SECONDS: Final = 5.0
"""How long the caller of an operation with `auto` waits, until its call becomes a job."""

JOBS: Final = "jobs"
"""The folder below `/v1` where callers find their jobs. No connector has this name."""


NOT_FOUND: Final = "not_found"
"""The key of `HttpBinding.errors` for what the upstream's contract knows as not found."""


class DeclaredError(Struct, frozen=True, kw_only=True):
    """An error that the contract declares under `x-policy.errors`."""

    reason: str
    status: int
    title: str


class ErrorRule(Struct, frozen=True, kw_only=True):
    """The meaning of an upstream's error. Exactly one of `reason` and `result` is set."""

    reason: str | None = None
    """The declared error that the call ends with."""
    result: Callable[[Mapping[str, Any], CallFacts, ReplyFacts], dict[str, Any]] | None = None
    """Makes the result that the error stands for, such as an empty list."""


class HttpBinding(Struct, frozen=True, kw_only=True):
    """How an operation becomes an upstream HTTP request, and the reply a result."""

    upstream: str
    upstream_operation: str
    request: Callable[[Mapping[str, Any], CallFacts], UpstreamRequest]
    results: Mapping[str, Callable[[Mapping[str, Any], CallFacts, ReplyFacts], dict[str, Any]]]
    """By status (`200`) or class of statuses (`2XX`). An exact status has precedence."""
    errors: Mapping[str, ErrorRule] = {}
    """By `not_found` (a meaning of the upstream's `refusals`), code of its `softErrors`
    (`NOT_FOUND`), status (`404`) or class (`4XX`). Codes have precedence over statuses, and an
    exact status over its class."""
    fallback_on: tuple[str, ...] = ()
    """Statuses after which `fallback` is tried once."""
    fallback_writes: bool = False
    """Whether `fallback` changes something. If so, only calls whose effect is not READ try it."""
    fallback: "HttpBinding | None" = None


class PythonBinding(Struct, frozen=True, kw_only=True):
    """How a Python handler runs an operation."""

    run: Callable[[Mapping[str, Any], CallContext], Awaitable[dict[str, Any] | FileContent]]
    upstreams: tuple[str, ...] = ()
    """The upstreams that the handler may use. The first one's backend is that of the operation."""
    asks: tuple[AskKind, ...] = ()
    """What the handler may ask the client for."""
    has_context: bool = False
    """Whether the handler takes the call context though it uses no upstream."""


def _unopened(_: object) -> NoReturn:
    raise LookupError("the catalogue has not opened the operation of the document")


class ImportedBinding(Struct, frozen=True, kw_only=True):
    """How an operation of an imported document becomes a request, and its reply a result."""

    upstream: str
    operation: str | None = None
    """The name of the operation that a tool with contract files calls, whose functions the
    catalogue adds. None: it is the tool itself, which has no contract files."""
    request: Callable[[Mapping[str, Any]], UpstreamRequest] = _unopened
    """Raises `InvalidArguments` for values that cannot be sent exactly."""
    result: Callable[[Reply], dict[str, Any] | FileContent | None] = _unopened
    """None if the reply reports a failure. Raises `InvalidReply` if it breaks the document."""
    refusal: Callable[[Reply], UpstreamAnswer] = _unopened
    """What the upstream says in a reply that reports a failure."""
    errors: Mapping[int, str] = {}
    """The declared errors by status."""
    longest_text: int = 0
    """The largest `maxLength` in the operation's own input schema, if a tool calls it."""
    watch: Callable[[ReportProgress], Watch] | None = None
    """Reports the progress of a reply that is collected. None: the reply is read at its end."""


Binding = HttpBinding | PythonBinding | ImportedBinding


class Attempts(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """How often a request that is safe to repeat is attempted after temporary failures."""

    max: int = 1
    backoff_seconds: tuple[float, ...] = (1.0,)
    """Waits before the second attempt, the third, and so on. The last wait repeats."""
    timeout_seconds: float | None = None
    """Time limit of one attempt. None: what is left of the call's time."""
    on: tuple[int, ...] = (429, 502, 503, 504)
    """Statuses that are retried, besides timeouts and failed connections."""


class CallPolicy(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What `import.yaml` says of the calls of a tool, with the names of `x-policy`."""

    timeout_seconds: float = 30.0
    """Time limit of the whole call."""
    task: TaskMode = "never"
    attempts: Attempts | None = None
    """None: three for reads."""


class Escalation(Struct, frozen=True, kw_only=True):
    """A read that an argument turns into a write."""

    when: str
    """The boolean argument that turns the read into a write when it is true. It is a member of the
    input's root."""
    grant: str
    """The operation that the caller must be granted as well."""
    requires: tuple[str, ...] = ()
    """Members of the input's root that the write requires."""


class Deprecation(Struct, frozen=True, kw_only=True):
    """Says that a tool will end, and which one takes its calls."""

    since: str
    """The day, as `2026-11-30`."""
    sunset: str | None = None
    """The day after which it may be gone. None: that is not decided."""
    successor: str | None = None
    """The id of the tool to call instead."""

    @property
    def note(self) -> str:
        """What a reader is told, as one sentence."""
        end = "" if self.sunset is None else f", ends on {self.sunset}"
        instead = "" if self.successor is None else f": call {mcp_name(self.successor)} instead"
        return f"Deprecated since {self.since}{end}{instead}."


def mcp_name(operation_id: str) -> str:
    """The name on `/mcp` of the tool with this id."""
    return operation_id.replace(".", "_", 1)


def route_of(operation_id: str) -> str:
    """The REST path of the tool with this id."""
    return f"/v1/{operation_id.replace('.', '/', 1)}"


class Operation(Struct, frozen=True, kw_only=True):
    """One thing that the gateway can do. Its schemas are in `tools.json`, under its MCP name."""

    id: str
    connector: str
    title: str
    description: str
    effect: Effect
    timeout_seconds: float
    errors: tuple[DeclaredError, ...]
    binding: Binding
    attempts: Attempts = Attempts()
    cache_seconds: float = 0.0
    """How long a result is cached for the same arguments. Results of writes are never cached."""
    stale_seconds: float = 0.0
    """How long after that time the result may be used while the upstream fails."""
    is_cache_public: bool = False
    """Whether all callers get the same result, so that caches outside may share it."""
    escalation: Escalation | None = None
    limits: ToolLimits | None = None
    task: TaskMode = "never"
    selects_fields: bool = False
    """Whether `fields` is an argument of the gateway: the members of the result to return."""
    file_types: tuple[str, ...] = ()
    """The media types of results that are files: bytes and not JSON. Some may be ranges."""
    text_member: str | None = None
    """The only member of the result, which is also served as plain text. None: JSON only."""
    has_blocks: bool = False
    """Whether results are lists of content blocks, which MCP clients get in place of JSON."""
    is_query: bool = False
    """Whether GET runs the operation too, with the arguments as query parameters."""
    sensitive: tuple[str, ...] = ()
    """JSON Pointers of arguments that no log, audit record or trace may contain. `*` stands for any
    index."""
    route: str
    """The REST path, `/v1/<connector>/<tool>`."""
    deprecation: Deprecation | None = None
    replaces: tuple[str, ...] = ()
    """The ids of tools that are gone, whose callers are told to call this one."""

    @property
    def is_imported(self) -> bool:
        """Whether the operation has no contract files: an imported document is its contract."""
        return isinstance(self.binding, ImportedBinding) and self.binding.operation is None

    @property
    def reports_progress(self) -> bool:
        """Whether a call may report its progress. Handlers with a context can."""
        match self.binding:
            case ImportedBinding(watch=watch):
                return watch is not None
            case _:
                return self.writes_log

    @property
    def writes_log(self) -> bool:
        """Whether a call may say something to its client. Handlers with a context can."""
        match self.binding:
            case PythonBinding(upstreams=upstreams, asks=asks, has_context=has_context):
                return bool(upstreams or asks) or has_context
            case _:
                return False

    @property
    def asks(self) -> tuple[AskKind, ...]:
        """What a call may ask its client for."""
        return self.binding.asks if isinstance(self.binding, PythonBinding) else ()

    @property
    def upstream(self) -> str | None:
        """The upstream whose backend serves the operation. None if the handler uses no upstream."""
        return next(iter(self.upstreams), None)

    @property
    def upstreams(self) -> tuple[str, ...]:
        """All upstreams that a call may use."""
        match self.binding:
            case HttpBinding(upstream=upstream) | ImportedBinding(upstream=upstream):
                return (upstream,)
            case PythonBinding(upstreams=upstreams):
                return upstreams


class Tool(Struct, frozen=True, kw_only=True):
    """An operation as MCP clients see it."""

    operation: str
    name: str
    """The name on `/mcp`: `<connector>_<tool>`."""
    bare_name: str
    """The name on `/mcp/<connector>`: `<tool>`."""
    aliases: tuple[str, ...] = ()
    """Other names that `tools/call` accepts. `tools/list` does not show them."""
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    requires: tuple[Requirement, ...] = ()
    """What a client must declare. The tool is listed for no other client."""
