"""Says how old a result is: in headers over HTTP, in `_meta` and in words over MCP.

The headers follow RFC 9111 (`Age`, `Cache-Control`) and RFC 9211 (`Cache-Status`).
"""

from typing import Any, Final

from gateway.amounts import amount
from gateway.calls.call import ResultAge
from gateway.transports.http.asgi import Headers
from gateway.transports.http.problems import kind_of

AGE_META: Final = "contract-gateway/age"
_NAME: Final = b"contract-gateway"


def age_headers(age: ResultAge) -> Headers:
    """The headers of a result that may be used again, or that is stale."""
    scope = b"public" if age.is_public else b"private"
    use = b"max-age=%d" % age.fresh_seconds if age.may_be_kept else b"no-cache"
    seconds = b"%d" % age.seconds
    return [
        (b"age", seconds),
        (b"cache-control", b"%b, %b" % (scope, use)),
        (b"cache-status", b"%b; %b" % (_NAME, _status(age))),
    ]


def _status(age: ResultAge) -> bytes:
    ttl = b"ttl=%d" % (int(age.fresh_seconds) - int(age.seconds))
    if age.failure is not None:
        return b"fwd=stale; %b; detail=%b" % (ttl, kind_of(age.failure).code.encode("ascii"))
    return b"hit; %b" % ttl if age.is_reused else b"fwd=miss; %b" % ttl


def age_facts(age: ResultAge) -> dict[str, Any]:
    """The same for programs over MCP."""
    facts: dict[str, Any] = {
        "seconds": int(age.seconds),
        "ttlMs": int(age.left_seconds * 1000),
        "isStale": age.failure is not None,
    }
    if age.failure is not None:
        facts["code"] = kind_of(age.failure).code
    return facts


def stale_note(age: ResultAge | None) -> str | None:
    """What a model reads beside a stale result. None if it is not stale."""
    if age is None or age.failure is None:
        return None
    return (
        f"This result is stale: it is {amount(int(age.seconds), 'second')} old. A newer one cannot"
        f" be made: {age.failure.detail}"
    )
