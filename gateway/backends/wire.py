"""Requests and replies as they travel (RFC 9110, RFC 3986): what live and mock have in common."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote

from msgspec import UNSET, Struct

from gateway.contract import jsontext
from gateway.contract.upstream import HeaderRule, Upstream, UpstreamRequest
from gateway.errors import InternalError, MalformedRequest, UpstreamRejected

USER_AGENT: Final = "contract-gateway"
_PLACEHOLDER: Final = re.compile(r"\{([a-z0-9_.]+)\}")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class WireRequest(Struct, frozen=True, kw_only=True):
    """A request ready to be sent, relative to the upstream's base URL."""

    method: str
    target: str
    """Percent-encoded path and query, from the first `/`."""
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None


class WireReply(Struct, frozen=True, kw_only=True):
    """A reply before it is read. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    delivery: Literal["whole", "cut"] = "whole"
    """`cut`: the connection closes before all of the body has been sent."""
    body_delay_seconds: float = 0.0
    """How long the body comes after the head."""


def encode(
    request: UpstreamRequest, upstream: Upstream, *, credentials: Mapping[str, str], now: str
) -> WireRequest:
    """`request` with its credentials, ready to be sent.

    Raises `MalformedRequest` for the path segments ``''``, `.` and `..`, for control characters in
    the path, and for header values that are not printable ASCII: none of them may be sent, however
    it is encoded.
    """
    headers = {
        "accept": ("Accept", "application/json"),
        "user-agent": ("User-Agent", USER_AGENT),
    }
    for name, value in (*request.headers, *_declared_headers(upstream, credentials, now)):
        headers[name.lower()] = _header(name, value)
    body = None
    if request.body is not UNSET:
        headers["content-type"] = ("Content-Type", "application/json")
        body = jsontext.encode(request.body)
    return WireRequest(
        method=request.method, target=_target(request), headers=tuple(headers.values()), body=body
    )


def refuse_redirect(status: int) -> None:
    """Raise `UpstreamRejected` for a redirect: credentials go to the declared address only."""
    if 300 <= status < 400:
        raise UpstreamRejected("The upstream answered with a redirect, which is not followed.")


def _target(request: UpstreamRequest) -> str:
    path = "/" + "/".join(map(_segment, request.path))
    if not request.query:
        return path
    query = (f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in request.query)
    return f"{path}?{'&'.join(query)}"


def _segment(text: str) -> str:
    """Encoding does not disarm `.` and `..`: both are unreserved, so they stay what they are."""
    if text in {"", ".", ".."} or _CONTROL.search(text):
        raise MalformedRequest("An argument cannot be used in the address of the upstream.")
    return quote(text, safe="")


def _header(name: str, value: str) -> tuple[str, str]:
    if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise MalformedRequest("A value cannot be sent as a header: it must be printable ASCII.")
    return name, value


def _declared_headers(
    upstream: Upstream, credentials: Mapping[str, str], now: str
) -> list[tuple[str, str]]:
    """The headers of `x-upstream`, without those that need an absent optional credential."""
    facts = {"now": now} | {f"credential.{name}": text for name, text in credentials.items()}
    optional = {f"credential.{rule.name}" for rule in upstream.credentials if not rule.is_required}
    return [
        (rule.name, _filled(rule, facts))
        for rule in upstream.headers
        if all(name in facts or name not in optional for name in _parts(rule.template)[1::2])
    ]


def _filled(rule: HeaderRule, facts: Mapping[str, str]) -> str:
    parts = list(_parts(rule.template))
    try:
        parts[1::2] = [facts[name] for name in parts[1::2]]
    except KeyError as error:
        raise InternalError(f"the header {rule.name} needs {error}, which is not set") from error
    return "".join(parts)


@lru_cache(maxsize=256)
def _parts(template: str) -> tuple[str, ...]:
    """Text and placeholder names in turn, beginning with text."""
    return tuple(_PLACEHOLDER.split(template))
