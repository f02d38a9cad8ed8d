"""Checks the media types of requests and of the accepted answers (RFC 9110 §8.3, §12.5.1)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gateway.errors import NotAcceptable, UnsupportedMediaType
from gateway.transports.http.asgi import Headers, Scope, of_head

_JSON_BODY: Final = re.compile(
    rb'application/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?;?', re.IGNORECASE
)
_REFUSED: Final = re.compile(r"q=0(\.0{0,3})?")


def require_json_body(scope: Scope) -> None:
    """Raise `UnsupportedMediaType` unless exactly one Content-Type declares the body as JSON."""
    if not of_head(scope, _declares_json):
        raise UnsupportedMediaType


def _declares_json(headers: Headers) -> bool:
    values = [value for name, value in headers if name == b"content-type"]
    return len(values) == 1 and _JSON_BODY.fullmatch(values[0]) is not None


def require_accept(scope: Scope, *media_types: str) -> None:
    """Raise `NotAcceptable` unless the client accepts one of `media_types`."""
    if not any(accepts(scope, media_type) for media_type in media_types):
        types = " or ".join(media_types)
        raise NotAcceptable(f"The answer is {types}, and the Accept header admits none of that.")


def accepts(scope: Scope, media_type: str) -> bool:
    """Whether the client accepts `media_type`. Without an Accept header it accepts everything."""
    return accepts_in(of_head(scope, accepted_in), media_type)


def accepted_in(headers: Headers) -> str | None:
    """The media ranges of all Accept headers. None: there is no such header."""
    values = [value for name, value in headers if name == b"accept"]
    return b",".join(values).decode("latin-1") if values else None


def accepts_in(ranges: str | None, media_type: str) -> bool:
    """Whether these media ranges of a request cover `media_type`. None covers everything."""
    return ranges is None or _accepts(ranges, media_type)


@lru_cache(maxsize=256)
def _accepts(header: str, media_type: str) -> bool:
    """Whether the most specific media range that covers `media_type` has a quality above zero."""
    accepted = dict(_ranges(header.lower()))
    main = media_type.partition("/")[0]
    for media_range in (media_type, f"{main}/*", "*/*"):
        if media_range in accepted:
            return accepted[media_range]
    return False


def _ranges(header: str) -> Iterator[tuple[str, bool]]:
    """The media ranges of an Accept header, and whether each is accepted or refused."""
    for part in header.split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        yield media_range, not any(_REFUSED.fullmatch(parameter) for parameter in parameters)
