"""Requests and replies as they travel (RFC 9110, RFC 3986): what live and mock have in common."""

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import quote

from msgspec import UNSET, Struct

from gateway.contract import jsontext
from gateway.contract.upstream import HeaderRule, Upstream, UpstreamRequest
from gateway.errors import ConfigurationError, MalformedRequest, UpstreamRejected

_COMMON: Final = {
    "accept": ("Accept", "application/json"),
    "user-agent": ("User-Agent", "contract-gateway"),
}
_JSON: Final = ("Content-Type", "application/json")
_PLACEHOLDER: Final = re.compile(r"\{([a-z0-9_.]+)\}")
_NOW: Final = "now"
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


class WireEncoder:
    """Makes requests to one upstream ready to be sent, with its headers and its credentials.

    Raises `ConfigurationError` for a credential that is missing or cannot be sent in a header.
    """

    def __init__(self, upstream: Upstream, credentials: Mapping[str, str]) -> None:
        self._fixed = dict(_COMMON)
        self._timed: dict[str, tuple[str, tuple[str | None, ...]]] = {}
        for rule in upstream.headers:
            parts = _filled(rule, upstream, credentials)
            if parts is None:
                continue
            if None in parts:
                self._timed[rule.name.lower()] = (rule.name, parts)
            else:
                self._fixed[rule.name.lower()] = (rule.name, "".join(map(str, parts)))

    def encode(self, request: UpstreamRequest, now: str) -> WireRequest:
        """`request`, sent at the time `now`.

        Raises `MalformedRequest` for the path segments ``''``, `.` and `..`, for control characters
        in the path, and for header values that are not printable ASCII: none of them may be sent,
        however it is encoded.
        """
        headers = {name.lower(): _header(name, value) for name, value in request.headers}
        headers.update(self._fixed)
        for key, (name, parts) in self._timed.items():
            headers[key] = (name, "".join(now if part is None else part for part in parts))
        body = None
        if request.body is not UNSET:
            headers["content-type"] = _JSON
            body = jsontext.encode(request.body)
        return WireRequest(
            method=request.method,
            target=_target(request),
            headers=tuple(headers.values()),
            body=body,
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


def _filled(
    rule: HeaderRule, upstream: Upstream, credentials: Mapping[str, str]
) -> tuple[str | None, ...] | None:
    """The header's parts with credentials filled in and None for the time.

    None altogether for a header that needs an optional credential that is not there.
    """
    optional = {each.name for each in upstream.credentials if not each.is_required}
    parts: list[str | None] = []
    for index, part in enumerate(_PLACEHOLDER.split(rule.template)):
        name = part.removeprefix("credential.")
        if index % 2 == 0:
            parts.append(part)
        elif part == _NOW:
            parts.append(None)
        elif credentials.get(name):
            parts.append(_credential(name, upstream, credentials))
        elif name in optional:
            return None
        else:
            raise ConfigurationError(f"{_setting(name, upstream)} is not set")
    return tuple(parts)


def _credential(name: str, upstream: Upstream, credentials: Mapping[str, str]) -> str:
    value = credentials[name]
    if not _HEADER_VALUE.fullmatch(value):
        raise ConfigurationError(
            f"{_setting(name, upstream)} holds what no header can hold; is there a line break?"
        )
    return value


def _setting(name: str, upstream: Upstream) -> str:
    return f"GATEWAY_{upstream.name.upper()}_{name.upper()}"
