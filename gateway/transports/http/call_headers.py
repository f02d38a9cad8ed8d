"""What a caller asks of one call beside its arguments: limits, a key to repeat it by, a trace."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.calls.call import UNBOUNDED, CallBounds
from gateway.calls.idempotency import read_key
from gateway.errors import MalformedRequest
from gateway.trace_context import TRACEPARENT, TRACESTATE, TraceContext, current_trace, read_trace
from gateway.transports.http.asgi import Headers, Scope, header_values, of_head

TIMEOUT_HEADER: Final = b"gateway-timeout"
TIMEOUT_ALIAS: Final = b"request-timeout"
ATTEMPTS_HEADER: Final = b"gateway-max-attempts"
KEY_HEADER: Final = b"idempotency-key"
_HEADERS: Final = frozenset({TIMEOUT_HEADER, TIMEOUT_ALIAS, ATTEMPTS_HEADER, KEY_HEADER})
META_PREFIX: Final = "contract-gateway/"
TIMEOUT_META: Final = f"{META_PREFIX}timeoutSeconds"
ATTEMPTS_META: Final = f"{META_PREFIX}maxAttempts"
KEY_META: Final = f"{META_PREFIX}idempotencyKey"
_MAX_SECONDS: Final = 10_000
_MAX_ATTEMPTS: Final = 9
_SECONDS: Final = re.compile(rb"[0-9]{1,4}(\.[0-9]{1,3})?")
_RULE: Final = "seconds, such as 2.5"
_ATTEMPTS: Final = re.compile(rb"[1-9]")


def bounds_of_headers(scope: Scope) -> CallBounds:
    """What the headers of a request ask for. Raises `MalformedRequest`."""
    if not of_head(scope, _has_any):
        return UNBOUNDED
    attempts = _one(scope, ATTEMPTS_HEADER, _ATTEMPTS, "a number from 1 to 9")
    return bounds_of(
        _seconds(scope),
        None if attempts is None else int(attempts),
        _key(scope),
    )


def refuse_headers(scope: Scope) -> None:
    """Raise `MalformedRequest` for headers of a call, on a path where `_meta` takes their place."""
    if of_head(scope, _has_any):
        raise MalformedRequest(
            "Over MCP, the timeout, the attempts and the idempotency key of a call are members of"
            f" its `_meta`: {TIMEOUT_META}, {ATTEMPTS_META}, {KEY_META}."
        )


def _has_any(headers: Headers) -> bool:
    return any(name in _HEADERS for name, _ in headers)


def _seconds(scope: Scope) -> float | None:
    given = [_one(scope, name, _SECONDS, _RULE) for name in (TIMEOUT_HEADER, TIMEOUT_ALIAS)]
    found = {float(each) for each in given if each is not None}
    if len(found) > 1:
        raise MalformedRequest(
            "The headers Gateway-Timeout and Request-Timeout differ. Send one of them."
        )
    return found.pop() if found else None


def _key(scope: Scope) -> str | None:
    values = header_values(scope, KEY_HEADER)
    if len(values) > 1:
        raise MalformedRequest("The header Idempotency-Key must occur once.")
    return read_key(values[0].decode("latin-1")) if values else None


def _one(scope: Scope, name: bytes, form: re.Pattern[bytes], rule: str) -> bytes | None:
    values = header_values(scope, name)
    if not values:
        return None
    if len(values) != 1 or form.fullmatch(values[0]) is None:
        shown = name.decode().title()
        raise MalformedRequest(f"The header {shown} must occur once and be {rule}.")
    return values[0]


def bounds_of_meta(meta: Mapping[str, Any]) -> CallBounds:
    """What the `_meta` of a `tools/call` asks for. Raises `MalformedRequest`."""
    key = meta.get(KEY_META)
    if not (key is None or type(key) is str):
        raise MalformedRequest("The idempotency key of a call must be a text.")
    key = None if key is None else read_key(key)
    return bounds_of(meta.get(TIMEOUT_META), meta.get(ATTEMPTS_META), key)


def bounds_of(seconds: Any, attempts: Any, key: str | None = None) -> CallBounds:
    """The bounds with these values; None leaves one unset. Raises `MalformedRequest`."""
    if seconds is None and attempts is None and key is None:
        return UNBOUNDED
    if seconds is not None and not (type(seconds) in {int, float} and 0 < seconds < _MAX_SECONDS):
        raise MalformedRequest("The timeout of a call must be a number of seconds above 0.")
    if attempts is not None and not (type(attempts) is int and 1 <= attempts <= _MAX_ATTEMPTS):
        raise MalformedRequest("The attempts of a call must be a number from 1 to 9.")
    return CallBounds(timeout_seconds=seconds, max_attempts=attempts, idempotency_key=key)


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
