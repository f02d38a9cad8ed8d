"""The media types that a request asks for (RFC 9110 §12.5.1)."""

from collections.abc import Iterable
from typing import Final

from gateway.contract.imported import ImportedReply
from gateway.encoding.escapes import MEDIA_TYPE
from gateway.encoding.texts import is_json

_JSON: Final = "application/json"


def accept_of(replies: Iterable[ImportedReply]) -> str:
    """The `Accept` header for the declared replies of success. Empty: they have no content.

    JSON is preferred to other media types, because its values can be checked.
    """
    first: list[str] = []
    others: list[str] = []
    for reply in replies:
        media_type = reply.media_type or ""
        if not reply.is_success or not MEDIA_TYPE.fullmatch(media_type):
            continue
        if reply.kind == "json" and "*" in media_type:
            first.append(_JSON)
        (first if is_json(media_type) else others).append(media_type)
    weight = ";q=0.9" if first else ""
    return ", ".join(dict.fromkeys([*first, *(f"{each}{weight}" for each in others)]))
