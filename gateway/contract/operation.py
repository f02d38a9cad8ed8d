"""An operation as its contract declares it: what generated tables hold and the run time reads."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from gateway.contract.context import CallContext, CallFacts
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


class Effect(StrEnum):
    """What a call does to the world (RFC 9110 safe and idempotent methods, MCP tool hints)."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"


class DeclaredError(Struct, frozen=True, kw_only=True):
    """An error that the contract promises, named under `x-policy.errors`."""

    reason: str
    status: int
    title: str


class ErrorRule(Struct, frozen=True, kw_only=True):
    """What a refusal of the upstream means. Exactly one of `reason` and `result` is set."""

    reason: str | None = None
    """The declared error to answer with."""
    result: Callable[[Mapping[str, Any], CallFacts, ReplyFacts], dict[str, Any]] | None = None
    """Or the result that this status stands for (an empty list, say)."""


class HttpBinding(Struct, frozen=True, kw_only=True):
    """How an operation becomes an upstream HTTP request, and the reply a result."""

    upstream: str
    upstream_operation: str
    request: Callable[[Mapping[str, Any], CallFacts], UpstreamRequest]
    results: Mapping[str, Callable[[Mapping[str, Any], CallFacts, ReplyFacts], dict[str, Any]]]
    """By status (`200`) or class of statuses (`2XX`); the exact status wins."""
    errors: Mapping[str, ErrorRule] = {}
    """By a code of the upstream's `softErrors` (`NOT_FOUND`), status (`404`) or class (`4XX`); a
    code goes before a status, and an exact status before its class."""
    fallback_on: tuple[str, ...] = ()
    """Statuses on which `fallback` is tried once instead."""
    fallback_writes: bool = False
    """Whether `fallback` changes something; it is then tried only in calls whose effect is not
    READ."""
    fallback: "HttpBinding | None" = None


class PythonBinding(Struct, frozen=True, kw_only=True):
    """An operation that a Python handler answers."""

    run: Callable[[Mapping[str, Any], CallContext], Awaitable[dict[str, Any]]]
    upstreams: tuple[str, ...] = ()
    """The upstreams that the handler may use; the first one's backend is the operation's."""


Binding = HttpBinding | PythonBinding


class Attempts(Struct, frozen=True, kw_only=True):
    """How often a request that is safe to repeat is sent when it fails for a while."""

    max: int = 1
    backoff_seconds: tuple[float, ...] = (1.0,)
    """Waits before the second attempt, the third, …; the last one is used again."""
    timeout_seconds: float | None = None
    """Time for one attempt; None for what is left of the whole call's."""
    on: tuple[int, ...] = (429, 502, 503, 504)
    """Statuses to try again after, besides timeouts and connections that fail."""


class Escalation(Struct, frozen=True, kw_only=True):
    """A read that an argument turns into a write."""

    when: str
    """The boolean argument, a member of the input's root, that does so when it is true."""
    grant: str
    """Operation that the caller must be granted as well."""
    requires: tuple[str, ...] = ()
    """Arguments, members of the input's root, that are then required."""


class Operation(Struct, frozen=True, kw_only=True):
    """One thing the gateway can do. Its schemas lie beside it in `tools.json`, under its id."""

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
    """How long a result may be used again for the same arguments; never that of a write."""
    escalation: Escalation | None = None
    is_query: bool = False
    """Whether GET asks the same, with the arguments as query parameters."""
    sensitive: tuple[str, ...] = ()
    """JSON Pointers of arguments that no log, audit record or trace may hold; `*` is any index."""
    route: str
    """The REST path, `/v1/<connector>/<tool>`."""

    @property
    def upstream(self) -> str | None:
        """The upstream whose backend answers; None where only Python does."""
        match self.binding:
            case HttpBinding(upstream=upstream) | PythonBinding(upstreams=(upstream, *_)):
                return upstream
            case PythonBinding():
                return None


class Tool(Struct, frozen=True, kw_only=True):
    """An operation as MCP clients see it."""

    operation: str
    name: str
    """On `/mcp`: `<connector>_<tool>`."""
    bare_name: str
    """On `/mcp/<connector>`: `<tool>`."""
    aliases: tuple[str, ...] = ()
    """Other names that `tools/call` answers to and `tools/list` does not show."""
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
