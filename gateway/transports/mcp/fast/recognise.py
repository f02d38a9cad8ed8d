"""Recognises the MCP messages that the fast path can serve. The SDK checks all others.

A message is recognised only if the SDK would certainly serve it. All others go to the SDK; nothing
is refused here. So this module does not repeat the rules of the protocol.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec
from mcp_types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY, CallToolRequestParams
from mcp_types.methods import validate_client_request
from mcp_types.version import LATEST_MODERN_VERSION
from msgspec import UNSET, Raw, Struct, UnsetType
from pydantic import ValidationError

from gateway.calls.call import UNBOUNDED, CallBounds
from gateway.contract.operation import Requirement
from gateway.errors import MalformedRequest
from gateway.profiles.clients import profile_of
from gateway.trace_context import TraceContext
from gateway.transports.http.asgi import Headers
from gateway.transports.http.bounds import bounds_of_meta
from gateway.transports.http.traces import split_trace
from gateway.transports.mcp.messages import client_name
from gateway.transports.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    LOG_LEVEL,
    NOTHING,
    PROGRESS,
    declared_by,
    header_text,
    version_of,
)

_MAX_META: Final = 2048
_VERSION: Final = b"mcp-protocol-version"
Routing: TypeAlias = Mapping[bytes, bytes]
"""The headers of a request that say what its body holds."""


class _CallParams(Struct, forbid_unknown_fields=True):
    name: str
    arguments: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")


class _ListParams(Struct, forbid_unknown_fields=True):
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")


class ToolsCall(Struct, forbid_unknown_fields=True, tag_field="method", tag="tools/call"):
    """A `tools/call` request."""

    jsonrpc: Literal["2.0"]
    id: int | str
    params: _CallParams


class ToolsList(Struct, forbid_unknown_fields=True, tag_field="method", tag="tools/list"):
    """A `tools/list` request without a cursor."""

    jsonrpc: Literal["2.0"]
    id: int | str
    params: _ListParams | UnsetType = UNSET


class Recognised(Struct, frozen=True):
    """A request that the fast path serves, and its protocol version."""

    message: ToolsCall | ToolsList
    version: str
    bounds: CallBounds
    """The limits that its `_meta` asks for."""
    profile: str | None = None
    """The client profile, if its `_meta` names the client."""
    declared: frozenset[Requirement] = NOTHING
    """See `Caller.declared`."""
    asks_progress: bool = False
    """Whether its `_meta` has a `progressToken`."""
    trace: TraceContext | None = None
    """The trace that its `_meta` names."""

    @property
    def is_modern(self) -> bool:
        return self.version == LATEST_MODERN_VERSION


_decoder = msgspec.json.Decoder(ToolsCall | ToolsList)


def recognise(routing: Routing | None, body: bytes) -> Recognised | None:
    """The request with this `routing` and strict JSON `body`, or None if the SDK must serve it."""
    if routing is None:
        return None
    try:
        message = _decoder.decode(body)
    except msgspec.DecodeError:
        return None
    version = version_of(routing.get(_VERSION))
    is_served = (
        _agrees(routing, message)
        if version == LATEST_MODERN_VERSION
        else version in HANDSHAKE_VERSIONS
    )
    if not is_served or not _has_object_arguments(message):
        return None
    meta, trace = _meta_of(message)
    envelope = _envelope(meta, version)
    if envelope is None:
        return None
    return Recognised(
        message,
        version,
        envelope.bounds,
        profile=envelope.profile,
        declared=envelope.declared,
        asks_progress=envelope.asks_progress,
        trace=trace,
    )


def routing_in(headers: Headers) -> Routing | None:
    """The `mcp-…` headers. None if one occurs twice or repeats a parameter of the call."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name.startswith(b"mcp-"):
            if name in found or name.startswith(b"mcp-param-"):
                return None
            found[name] = value
    return found


def _agrees(routing: Routing, message: ToolsCall | ToolsList) -> bool:
    """Whether the routing headers match the body."""
    if isinstance(message, ToolsList):
        return routing.get(b"mcp-method") == b"tools/list"
    name = routing.get(b"mcp-name", b"").decode("latin-1")
    is_call = routing.get(b"mcp-method") == b"tools/call"
    return is_call and header_text(name) == message.params.name


def _has_object_arguments(message: ToolsCall | ToolsList) -> bool:
    if isinstance(message, ToolsList) or message.params.arguments is UNSET:
        return True
    return bytes(message.params.arguments).startswith(b"{")


class _Envelope(Struct, frozen=True):
    """What the `_meta` of a request says."""

    bounds: CallBounds
    profile: str | None = None
    asks_progress: bool = False
    declared: frozenset[Requirement] = NOTHING


_EMPTY: Final = _Envelope(UNBOUNDED)


def _meta_of(message: ToolsCall | ToolsList) -> tuple[bytes | None, TraceContext | None]:
    """The `_meta` of the message without its trace, and the trace."""
    meta = UNSET if message.params is UNSET else message.params.meta
    return (None, None) if meta is UNSET else split_trace(bytes(meta))


def _envelope(meta: bytes | None, version: str) -> _Envelope | None:
    """What `_meta` says. None if the SDK must check it."""
    if meta is None:
        return _EMPTY if version in HANDSHAKE_VERSIONS else None
    return _read_envelope(meta, version) if len(meta) <= _MAX_META else None


@lru_cache(maxsize=512)
def _read_envelope(text: bytes, version: str) -> _Envelope | None:
    """What this `_meta` says, or None if the SDK does not accept it.

    The result is cached, because clients send the same `_meta` every time.
    """
    meta: Any = msgspec.json.decode(text)
    if not isinstance(meta, dict) or LOG_LEVEL in meta:
        return None
    params = {"name": "", "_meta": meta}
    try:
        validate_client_request("tools/call", version, params)
        CallToolRequestParams.model_validate(params, by_name=False)
        bounds = bounds_of_meta(meta)
    except (ValidationError, MalformedRequest):
        return None
    asks_progress = PROGRESS in meta
    if version in HANDSHAKE_VERSIONS:
        return _Envelope(bounds, asks_progress=asks_progress)
    if meta[PROTOCOL_VERSION_META_KEY] != version:
        return None
    info = meta.get(CLIENT_INFO_META_KEY)
    profile = None if info is None else profile_of(client_name(info)).name
    return _Envelope(bounds, profile, asks_progress, declared_by(meta))
