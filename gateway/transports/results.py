"""Results over HTTP, and how old they are: in headers, in `_meta` and in words.

The headers follow RFC 9111 (`Age`, `Cache-Control`) and RFC 9211 (`Cache-Status`).
"""

from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any, Final

from gateway.amounts import amount
from gateway.calls.call import Result, ResultAge
from gateway.contract.operation import JOBS, Deprecation, route_of
from gateway.contract.values.files import BLOCKS_TYPE
from gateway.transports.http.asgi import JSON, Headers, Scope, Send, respond
from gateway.transports.http.content import accepts
from gateway.transports.http.problems import kind_of, successor_link

_NEVER_RENDERED: Final = (
    (b"content-disposition", b"attachment"),
    (b"content-security-policy", b"sandbox; default-src 'none'"),
)
"""Headers of files: the bytes come from an upstream, and no browser may run them."""
PLAIN_TEXT: Final = "text/plain"
_UTF8_TEXT: Final = b"text/plain; charset=utf-8"
_REPEATED: Final = (b"idempotency-replayed", b"true")
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


def deprecation_headers(facts: Deprecation) -> Headers:
    """`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a link to the successor."""
    fields = [(b"deprecation", b"@%d" % _midnight(facts.since).timestamp())]
    if facts.sunset is not None:
        end = format_datetime(_midnight(facts.sunset), usegmt=True)
        fields.append((b"sunset", end.encode("ascii")))
    if facts.successor is not None:
        fields.append(successor_link(route_of(facts.successor)))
    return fields


def _midnight(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), time(), UTC)


def stale_note(age: ResultAge | None) -> str | None:
    """What a model reads beside a stale result. None if it is not stale."""
    if age is None or age.failure is None:
        return None
    return (
        f"This result is stale: it is {amount(int(age.seconds), 'second')} old. A newer one cannot"
        f" be made: {age.failure.detail}"
    )


def result_headers(result: Result) -> Headers:
    """The backend of the result, how old it is, and whether it is that of an earlier call with the
    same key. For a call that became a job, the path of the job."""
    fields = [(b"gateway-backend", result.backend.encode("ascii"))]
    if result.mocked:
        fields.append((b"gateway-mocked", ", ".join(result.mocked).encode("ascii")))
    if result.left_out:
        fields.append((b"gateway-left-out", b"%d" % len(result.left_out)))
    if result.deprecation is not None:
        fields += deprecation_headers(result.deprecation)
    if result.age is not None:
        return [*fields, *age_headers(result.age)]
    if result.job_id is not None:
        fields[0] = (b"location", f"/v1/{JOBS}/{result.job_id}".encode("ascii"))
    return [*fields, _REPEATED] if result.is_repeated else fields


async def send_blocks(scope: Scope, send: Send, result: Result, limits: Headers) -> None:
    """Send a list of content blocks: JSON, under its own media type if only that is accepted."""
    is_json = accepts(scope, JSON.decode())
    media_type = JSON if is_json else BLOCKS_TYPE.encode()
    headers = [*result_headers(result), *limits]
    await respond(send, 200, result.text, content_type=media_type, headers=headers)


async def send_result(
    scope: Scope, send: Send, result: Result, limits: Headers, text_member: str | None = None
) -> None:
    """Send a file as its bytes, unless the client only accepts JSON. Send other results as JSON.

    A client that accepts text and not JSON gets the text of the result, its `text_member`. A call
    that became a job is answered with 202 and the path of the job.
    """
    headers = [*result_headers(result), *limits]
    if result.job_id is not None:
        await respond(send, 202, result.text, headers=headers)
        return
    text = None if text_member is None else result.values.get(text_member)
    if text is not None and not accepts(scope, JSON.decode()):
        headers = [*headers, *_NEVER_RENDERED]
        await respond(send, 200, text.encode(), content_type=_UTF8_TEXT, headers=headers)
        return
    file = result.file
    if file is None or (not accepts(scope, file.media_type) and accepts(scope, JSON.decode())):
        await respond(send, 200, result.whole_text, headers=headers)
        return
    media_type = file.media_type.encode("ascii")
    await respond(
        send, 200, file.data, content_type=media_type, headers=[*headers, *_NEVER_RENDERED]
    )
