"""Checks of credentials: what is a key, where it may be, and what refusals say (RFC 6750)."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace
from resource_target import Answer, Endpoint, Fields, NotApplicable, Target, get, modern, rest

WRONG_KEY: Final = "wrong-key-of-the-suite-0123456789"
_ERROR: Final = re.compile(r'error="?([a-z_]+)"?')
_ODD: Final = ("HEAD", "GET", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "OPTIONS")
_SECONDS: Final = 10.0

Run = Callable[[Target], Iterator[str]]
Shape = tuple[int, Any, Any]


class Check(Struct, frozen=True, kw_only=True):
    """One named requirement."""

    name: str
    requires: str
    run: Run
    """Finds violations, as sentences. Raises `NotApplicable`."""


CHECKS: Final[list[Check]] = []


def check(name: str, requires: str) -> Callable[[Run], Run]:
    """Add the function to the checks."""

    def add(run: Run) -> Run:
        CHECKS.append(Check(name=name, requires=requires, run=run))
        return run

    return add


def refused(
    answer: Answer, *, error: str | None, statuses: tuple[int, ...] = (401,)
) -> Iterator[str]:
    """What is wrong with `answer` as a refusal whose challenge has the code `error`, or none."""
    if answer.status not in statuses:
        yield f"{answer.request}: {answer.status}, not {' or '.join(map(str, statuses))}"
        return
    if answer.status != 401:
        return
    challenges = answer.values("www-authenticate")
    if len(challenges) != 1 or not challenges[0].lower().startswith("bearer"):
        yield f"{answer.request}: WWW-Authenticate is {challenges}, not one Bearer challenge"
        return
    found = _ERROR.search(challenges[0])
    if (found and found[1]) != error:
        yield f"{answer.request}: the challenge is {challenges[0]}, its error should be {error}"
    if "no-store" not in ",".join(answer.values("cache-control")):
        yield f"{answer.request}: a refusal may be cached"


@check("no-token", "401 and a Bearer challenge without an error code (RFC 6750 §3.1)")
def no_token(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        yield from refused(target.send(each), error=None)


@check("invalid-token", '401 and error="invalid_token" for a key that nobody has (RFC 6750 §3.1)')
def invalid_token(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        yield from refused(target.send(each, key=WRONG_KEY), error="invalid_token")


@check("revoked-token", "a key that was revoked is as invalid as one that nobody has")
def revoked_token(target: Target) -> Iterator[str]:
    key = target.other("revoked")
    for each in target.endpoints():
        yield from refused(target.send(each, key=key), error="invalid_token")


@check("optional-token", "where no key is needed, one that is sent must be valid")
def optional_token(target: Target) -> Iterator[str]:
    places = ("/openapi.json", "/asyncapi.json", "/mcp/server-card")
    served = [get("document", each) for each in places]
    served = [each for each in served if target.send(each).status == 200]
    if not served:
        raise NotApplicable("no document is served without a key")
    for each in served:
        yield from refused(target.send(each, key=WRONG_KEY), error="invalid_token")


@check("other-scheme", "another scheme is no key: 401 without an error code (RFC 6750 §3.1)")
def other_scheme(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        for value in ("Basic dXNlcjpwYXNzd29yZA==", f"Token {target.key}", "Digest a=b"):
            answer = target.send(each, [("authorization", value)])
            yield from refused(answer, error=None)


@check("scheme-case", "the scheme is compared without case (RFC 9110 §11.1)")
def scheme_case(target: Target) -> Iterator[str]:
    for scheme in ("bearer", "BEARER"):
        answer = target.send(
            modern("/mcp", "tools/list", {}), [("authorization", f"{scheme} {target.key}")]
        )
        if answer.status != 200:
            yield f"{answer.request}: {answer.status} for the scheme {scheme}"


@check("malformed-header", "a header that is not one key is refused, and never served or failed on")
def malformed_header(target: Target) -> Iterator[str]:
    key = target.key
    values = (
        "Bearer",
        f"Bearer {key} {key}",
        f"Bearer {key},{key}",
        f'Bearer "{key}"',
        f"Bearer {key}\u00e9",
        f"Bearer\t{key}",
        f"Bearer={key}",
        key,
        f"Bearer Bearer {key}",
    )
    for each in target.endpoints():
        for value in values:
            answer = target.send(each, [("authorization", value)])
            if answer.status not in {400, 401}:
                yield f"{answer.request}: {answer.status} for {value.replace(key, '<key>')!r}"


@check("oversized-header", "a header that is too long is refused with 400, 401 or 431")
def oversized_header(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        for size in (2_000, 20_000):
            answer = target.send(each, key=target.key + "A" * size)
            if answer.status not in {400, 401, 431}:
                yield f"{answer.request}: {answer.status} for a key of {size} characters"


@check("two-headers", "two Authorization headers are refused, also when both are valid")
def two_headers(target: Target) -> Iterator[str]:
    good, bad = (("authorization", f"Bearer {key}") for key in (target.key, WRONG_KEY))
    pairs: tuple[Fields, ...] = ((good, good), (good, bad), (bad, good))
    for each in target.endpoints():
        for fields in pairs:
            answer = target.send(each, fields)
            if answer.status not in {400, 401}:
                yield f"{answer.request}: {answer.status} for two headers"


@check("token-elsewhere", "a key in the query, a cookie, the body or another header is not used")
def token_elsewhere(target: Target) -> Iterator[str]:
    key = target.key
    for each in target.endpoints():
        for name in ("access_token", "token", "key"):
            yield from refused(target.send(each, query=f"{name}={key}"), error=None)
        for field in (
            ("cookie", f"access_token={key}"),
            ("x-api-key", key),
            ("proxy-authorization", f"Bearer {key}"),
        ):
            yield from refused(target.send(each, [field]), error=None)
    form = {"content-type": "application/x-www-form-urlencoded", "accept": "*/*"}
    place = replace(
        rest(target.granted()[1], {}), headers=form, body=f"access_token={key}".encode()
    )
    yield from refused(target.send(place), error=None)


@check(
    "before-the-body", "401 comes before the body is read: a bad body or a late one changes nothing"
)
def before_the_body(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        if each.method != "POST":
            continue
        for body in (b"{", b"\xff" * 20, b"[" * 2000):
            yield from refused(target.send(replace(each, body=body)), error=None)
        kind = {**each.headers, "content-type": "application/xml"}
        yield from refused(target.send(replace(each, headers=kind)), error=None)
        status = _status_before_body(target.url, each)
        if status != "401":
            yield f"POST {each.path} ({each.name}): {status} while the body is waited for, not 401"


def _status_before_body(url: str, endpoint: Endpoint) -> str:
    """The status of the answer to a request whose body never comes, or why there is none."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    with socket.create_connection((parts.hostname or "", port), _SECONDS) as plain:
        wire: socket.socket = plain
        if parts.scheme == "https":
            context = ssl.create_default_context()
            wire = context.wrap_socket(plain, server_hostname=parts.hostname)
        lines = [f"POST {endpoint.path} HTTP/1.1", f"Host: {parts.netloc}", "Content-Length: 1000"]
        lines += [f"{name}: {value}" for name, value in endpoint.headers.items()]
        wire.sendall("\r\n".join([*lines, "", ""]).encode())
        try:
            first = wire.recv(4096).decode("latin-1")
        except TimeoutError:
            return "nothing"
    return first.split(" ", 2)[1] if first.startswith("HTTP/") else "nothing"


@check("odd-methods", "without a key, no method is served, and OPTIONS answers without a body")
def odd_methods(target: Target) -> Iterator[str]:
    for each in target.endpoints():
        for method in _ODD:
            answer = target.send(each, method=method)
            if method == "OPTIONS" and answer.status in {200, 204}:
                if answer.text:
                    yield f"{answer.request}: OPTIONS has a body"
            elif answer.status not in {400, 401, 404, 405, 501}:
                yield f"{answer.request}: {answer.status}"
            if method == "HEAD" and answer.text:
                yield f"{answer.request}: HEAD has a body"


@check("unknown-paths", "without a key, what exists cannot be distinguished from what does not")
def unknown_paths(target: Target) -> Iterator[str]:
    connector, (_, path) = target.connector(), target.granted()
    pairs = [
        (rest(path, {}), rest(f"/v1/{connector}/no_such_tool_zz", {})),
        (rest(path, {}), rest("/v1/no_such_connector_zz/no_such_tool_zz", {})),
        (
            modern(f"/mcp/{connector}", "tools/list", {}),
            modern("/mcp/no_such_connector_zz", "tools/list", {}),
        ),
        (
            get("card", f"/mcp/{connector}/server-card"),
            get("card", "/mcp/no_such_connector_zz/server-card"),
        ),
    ]
    for known, unknown in pairs:
        for method in (known.method, *_ODD):
            one, other = (target.send(each, method=method) for each in (known, unknown))
            if shape(one) != shape(other):
                yield f"{one.request}: {difference(shape(one), shape(other))} at {other.request}"


def shape(answer: Answer, *names: str) -> Shape:
    """What can be distinguished of an answer, without the id of its request and without `names`."""
    message = answer.message()
    ignored = {"date", "x-request-id", "content-length", "server", "connection", "mcp-session-id"}
    fields = sorted(field for field in answer.headers if field[0] not in ignored)
    return answer.status, fields, _without(message, names)


def difference(one: Shape, other: Shape) -> str:
    """The first part in which two shapes differ."""
    parts = ("the status", "the headers", "the body")
    found = next(each for each in zip(parts, one, other, strict=True) if each[1] != each[2])
    return "{} is {}, not {}".format(*found)


def _without(value: Any, names: tuple[str, ...]) -> Any:
    match value:
        case dict():
            kept = {name: each for name, each in value.items() if name != "request_id"}
            return {name: _without(each, names) for name, each in kept.items()}
        case list():
            return [_without(each, names) for each in value]
        case str():
            for name in names:
                value = value.replace(name, "<name>")
            return re.sub(r"[0-9a-f]{32}", "<id>", value)
        case _:
            return value
