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
_MEMBER: Final = re.compile(r"([a-z0-9][a-z0-9_*/@-]{0,255})=[ -+\--<>-~]{0,255}[!-+\--<>-~]")
"""A member of `tracestate`: a key and a value that does not end with a space."""
_MAX_MEMBERS: Final = 32
_MAX_STATE: Final = 512
"""Characters that are passed on."""
_MAX_READ: Final = 8192
"""Characters of a state that are looked at. A longer one is dropped."""
_LONG_MEMBER: Final = 128
"""Longer members are left out first."""

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
    """What systems before us keep in `tracestate`, in at most 512 characters. Empty if there is
    nothing."""

    @property
    def parent(self) -> str:
        """The value of `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"


current_trace: Final[ContextVar[TraceContext | None]] = ContextVar("current_trace", default=None)
"""Each transport sets it where a caller names a trace, and each worker for a stored job."""


def read_trace(parent: object, state: object = "") -> TraceContext | None:
    """The trace of the values of `traceparent` and `tracestate`.

    None if the parent is invalid. An invalid state is dropped, and one that is too long is
    shortened. These are rules of W3C Trace Context §3.2 and §3.3: a caller is not refused because
    of its trace.
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
    """The members of `state` that are passed on. None of them if it is malformed (§3.3.1)."""
    if not isinstance(state, str) or not state or len(state) > _MAX_READ:
        return ""
    members = [member for each in state.split(",") if (member := each.strip(" \t"))]
    found = [_MEMBER.fullmatch(member) for member in members]
    keys = {each[1] for each in found if each is not None}
    # A part that cannot be read, and a key that occurs twice, leave fewer keys than members.
    if len(members) > _MAX_MEMBERS or len(keys) < len(members):
        return ""
    return _shortened(members)


def _shortened(members: list[str]) -> str:
    """The members in at most 512 characters. Whole members are left out, as §3.3.1.5 says."""
    if len(",".join(members)) > _MAX_STATE:
        members = [each for each in members if len(each) <= _LONG_MEMBER]
    while len(",".join(members)) > _MAX_STATE:
        members.pop()
    return ",".join(members)


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
