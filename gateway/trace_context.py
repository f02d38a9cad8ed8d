"""The trace that the current work belongs to (W3C Trace Context)."""

import re
from contextvars import ContextVar
from typing import Final, Literal

from msgspec import Struct

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
_PARENT: Final = re.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_KNOWN_FLAGS: Final = 0b11
"""`sampled` and `random`. Other bits have no meaning yet and are not passed on."""
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * 16
_STATE: Final = re.compile("[ -~]{1,512}")
_MAX_MEMBERS: Final = 32

Forwarding = Literal["off", "ids", "all"]
"""What other hosts are sent: nothing, `traceparent`, or `tracestate` too."""


class TraceContext(Struct, frozen=True):
    """A trace, and the span in it that caused the current work."""

    trace_id: str
    """32 lower-case hexadecimal digits."""
    span_id: str
    """16 lower-case hexadecimal digits."""
    flags: int
    """1: the caller records this trace."""
    state: str = ""
    """What systems before us keep in `tracestate`. Empty if there is nothing."""

    @property
    def parent(self) -> str:
        """The value of `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"


current_trace: Final[ContextVar[TraceContext | None]] = ContextVar("current_trace", default=None)
"""Each transport sets it where a caller names a trace, and each worker for a stored job."""


def read_trace(parent: object, state: object = "") -> TraceContext | None:
    """The trace of the values of `traceparent` and `tracestate`.

    None if the parent is invalid. An invalid state is dropped. Both are rules of W3C Trace Context
    §3.2 and §3.3: a caller is not refused because of its trace.
    """
    found = _PARENT.fullmatch(parent) if isinstance(parent, str) else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or trace_id == _NO_TRACE:
        return None
    if span_id == _NO_SPAN:
        return None
    return TraceContext(trace_id, span_id, int(flags, 16) & _KNOWN_FLAGS, _kept(state))


def _kept(state: object) -> str:
    if not isinstance(state, str) or _STATE.fullmatch(state) is None:
        return ""
    return state if state.count(",") < _MAX_MEMBERS else ""


def current_trace_id() -> str | None:
    """The id of the current trace, or None."""
    trace = current_trace.get()
    return None if trace is None else trace.trace_id


def current_parent() -> str | None:
    """The `traceparent` of the current work, to be stored with work that follows from it."""
    trace = current_trace.get()
    return None if trace is None else trace.parent


def forwarded(forwarding: Forwarding) -> tuple[tuple[str, str], ...]:
    """The header fields that name the current trace to another host. Most work has none."""
    trace = current_trace.get()
    if trace is None or forwarding == "off":
        return ()
    parent = (TRACEPARENT, trace.parent)
    return (parent, (TRACESTATE, trace.state)) if forwarding == "all" and trace.state else (parent,)
