"""Reads the trace that a caller names: in the headers of a request, or in `_meta` over MCP."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.trace_context import TRACEPARENT, TRACESTATE, TraceContext, current_trace, read_trace
from gateway.transports.http.asgi import Headers

_MARK: Final = b'"traceparent"'
_NAMES: Final = (TRACEPARENT, TRACESTATE, "baggage")


def trace_of(headers: Headers) -> TraceContext | None:
    """The trace that the caller names, or None: W3C Trace Context refuses no request."""
    parents = [value for name, value in headers if name == b"traceparent"]
    if len(parents) != 1:
        return None
    states = b",".join(value for name, value in headers if name == b"tracestate")
    return read_trace(parents[0].decode("latin-1"), states.decode("latin-1"))


def enter_trace(meta: Mapping[str, Any]) -> None:
    """The trace that `_meta` names is that of this task. It goes before one in a header."""
    trace = read_trace(meta.get(TRACEPARENT), meta.get(TRACESTATE, ""))
    if trace is not None:
        current_trace.set(trace)


def split_trace(meta: bytes) -> tuple[bytes, TraceContext | None]:
    """The JSON text `meta` without its trace, and that trace.

    Each call has another trace, so that a text with it is never seen twice.
    """
    # A name may be written with escapes, which only a decoder reads.
    if _MARK not in meta and b"\\" not in meta:
        return meta, None
    try:
        values = msgspec.json.decode(meta)
    except msgspec.DecodeError:
        return meta, None
    if not isinstance(values, dict):
        return meta, None
    trace = read_trace(values.get(TRACEPARENT), values.get(TRACESTATE, ""))
    rest = {name: value for name, value in values.items() if name not in _NAMES}
    return msgspec.json.encode(rest), trace
