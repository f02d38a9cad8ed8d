"""The content of replies: media types, text and bytes."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.upstream import Reply
from gateway.contract.values import jsontext
from gateway.contract.values.files import OCTETS, FileContent
from gateway.encoding.escapes import MEDIA_TYPE
from gateway.errors import InvalidReply

BODILESS: Final = frozenset({"204", "205"})
"""Statuses whose replies have no body (RFC 9110 §15.3.5, §15.3.6)."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
"""Statuses whose `Location` is the address of the answer (RFC 9110 §15.4)."""
RESULT: Final = "result"
"""The member of the result that holds a reply which is no JSON object."""
_CODECS: Final[Mapping[str, str]] = {
    "": "utf-8-sig",
    "utf-8": "utf-8-sig",
    "utf8": "utf-8-sig",
    "us-ascii": "ascii",
    "ascii": "ascii",
    "iso-8859-1": "latin-1",
    "latin1": "latin-1",
    "windows-1252": "cp1252",
    "cp1252": "cp1252",
    "utf-16": "utf-16",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
}
"""The codec of each charset (IANA, Character Sets). Text without a charset is UTF-8."""
_ADDRESS: Final = re.compile(r"https?://[\x21-\x7e]+")
_CHARSET: Final = re.compile(r';[ \t]*charset=(?:"([^"]*)"|([^";\s]*))')
_MAX_ESSENCE: Final = 127
_MAX_ADDRESS: Final = 8000
"""As many bytes as every client should take (RFC 9110 §4.1)."""
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16."""


def essence_of(reply: Reply) -> str:
    """The media type of the reply without parameters, in lower case."""
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(essence: str) -> bool:
    """Whether this media type is JSON (RFC 6839 §3.1)."""
    return essence == "application/json" or essence.endswith("+json")


def is_in_range(essence: str, declared: str | None) -> bool:
    """Whether the media type is in the declared range (RFC 9110 §12.5.1)."""
    if declared is None:
        return True
    wanted = declared.partition(";")[0].strip().lower()
    if wanted in {"*/*", essence} or (is_json(wanted) and is_json(essence)):
        return True
    kind, _, rest = wanted.partition("/")
    return rest == "*" and essence.startswith(f"{kind}/")


def precision_of(declared: str | None) -> int:
    """How narrow the declared range is. The narrowest one that matches is used."""
    return 0 if declared in {None, "*/*"} else 1 if str(declared).endswith("/*") else 2


def json_of(body: bytes) -> Any:
    """The JSON value. Raises `InvalidReply`."""
    try:
        return jsontext.decode(body, jsontext.REPLY)
    except jsontext.NotJson as error:
        raise InvalidReply(f"The upstream's answer is not valid JSON: {error}.") from error


def object_of(value: Any) -> dict[str, Any]:
    """The result for a JSON value: an object is the result itself."""
    return value if isinstance(value, dict) else {RESULT: value}


def untyped(reply: Reply) -> dict[str, Any] | FileContent:
    """The result for a body that the document does not describe. It never fails.

    The call was made, and may have been a write: its answer is not lost for what it looks like.
    """
    essence = essence_of(reply)
    try:
        if not reply.body:
            return {}
        if is_json(essence):
            return object_of(json_of(reply.body))
        return {"text": text_of(reply)} if essence.startswith("text/") else file_of(reply)
    except InvalidReply:
        return file_of(reply)


def address_of(reply: Reply) -> str:
    """The address of a redirect. Raises `InvalidReply` if it is no absolute HTTP URL."""
    found = reply.headers.get("location", "")
    if len(found) > _MAX_ADDRESS or not _ADDRESS.fullmatch(found):
        raise InvalidReply("The upstream answered with a redirect without an HTTP address.")
    return found


def text_of(reply: Reply) -> str:
    """The text, decoded with the charset of the media type. Raises `InvalidReply`."""
    try:
        return reply.body.decode(_codec_of(reply))
    except UnicodeDecodeError as error:
        raise InvalidReply("The upstream's answer is not valid text.") from error


def _codec_of(reply: Reply) -> str:
    """The codec of the text. Raises `InvalidReply` for a charset that is not known."""
    found = _CHARSET.search(reply.headers.get("content-type", "").lower())
    charset = (found[1] or found[2] or "").strip() if found else ""
    codec = _CODECS.get(charset)
    if codec is None:
        raise InvalidReply(
            "The upstream's answer is text in a charset that the gateway does not decode. "
            f"It decodes {', '.join(sorted(filter(None, _CODECS)))}."
        )
    # Without a mark, the order of the bytes is that of the network (RFC 2781 §4.3).
    return "utf-16-be" if codec == "utf-16" and reply.body[:2] not in _MARKS else codec


def file_of(reply: Reply) -> FileContent:
    """The bytes. Those whose media type is malformed or very long are `OCTETS`."""
    essence = essence_of(reply)
    is_sound = len(essence) <= _MAX_ESSENCE and MEDIA_TYPE.fullmatch(essence)
    return FileContent(media_type=essence if is_sound else OCTETS, data=reply.body)
