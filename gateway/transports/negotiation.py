"""Media types: what a request body is, and what an answer may be (RFC 9110 §8.3, §12.5.1)."""

import re
from functools import lru_cache
from typing import Final

from gateway.errors import NotAcceptable, UnsupportedMediaType
from gateway.transports.asgi import Scope, header_values

_JSON_BODY: Final = re.compile(
    rb'application/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?;?', re.IGNORECASE
)
_REFUSED: Final = re.compile(r"q=0(\.0{0,3})?")


def require_json_body(scope: Scope) -> None:
    """Raise `UnsupportedMediaType` unless the body is declared as JSON, once."""
    values = header_values(scope, b"content-type")
    if len(values) != 1 or not _JSON_BODY.fullmatch(values[0]):
        raise UnsupportedMediaType


def require_accept(scope: Scope, *media_types: str) -> None:
    """Raise `NotAcceptable` unless the client takes all of `media_types`; no Accept takes all."""
    values = header_values(scope, b"accept")
    if not values:
        return
    header = b",".join(values).decode("latin-1")
    if not all(_accepts(header, media_type) for media_type in media_types):
        raise NotAcceptable


@lru_cache(maxsize=256)
def _accepts(header: str, media_type: str) -> bool:
    main = media_type.partition("/")[0]
    return any(
        accepted in {media_type, f"{main}/*", "*/*"} for accepted in _accepted(header.lower())
    )


def _accepted(header: str) -> list[str]:
    """The media ranges of an Accept header, those with a quality of zero left out."""
    accepted = []
    for part in header.split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        if not any(_REFUSED.fullmatch(parameter) for parameter in parameters):
            accepted.append(media_range)
    return accepted
