"""Results that are bytes or content blocks, and which media types are sent as text."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

# Results that are lists of content blocks. The schema is `schemas/common/content.json`.

BLOCKS_TYPE: Final = "application/vnd.contract-gateway.content+json"
"""The media type of such a result in contracts and over REST."""
BLOCKS: Final = "content"
"""The only member of the result."""


def encoded_bytes(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The bytes in the blocks, each in base64."""
    for block in blocks:
        if (data := data_of(block)) is not None:
            yield data


def data_of(block: Mapping[str, Any]) -> str | None:
    """The bytes in `block` in base64. None: it is a text or a link."""
    found: str | None = block.get("data", block.get("resource", {}).get("blob"))
    return found


# Bytes that are a result, such as an image or an archive: an upstream's reply, or a handler's.

OCTETS: Final = "application/octet-stream"
_NOT_FILES: Final = frozenset({"application/json", "text/plain", BLOCKS_TYPE})


def file_types_of(content: Iterable[str]) -> Iterator[str]:
    """Of the media types of a result in a contract, those of files."""
    return (each for each in content if each not in _NOT_FILES)


class FileContent(Struct, frozen=True, kw_only=True):
    """The bytes and their media type. Handlers of tools whose results are files return it."""

    media_type: str
    """Without parameters. It is syntactically valid (RFC 9110 §8.3.1)."""
    data: bytes
    members: Mapping[str, Any] = {}
    """What the result says besides. Handlers leave it empty."""

    @property
    def base64(self) -> str:
        """The bytes in base64 (RFC 4648 §4)."""
        return base64.b64encode(self.data).decode("ascii")

    def facts(self) -> dict[str, Any]:
        """What a result says of the bytes: the media type, the size in bytes, and `members`."""
        return {"content_type": self.media_type, "size": len(self.data), **self.members}


# Which media types are sent as text, and how those that others send are named in errors.

_TEXTS: Final = frozenset(
    {"application/javascript", "application/json", "application/xml", "application/yaml"}
)


_ESSENCE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")


def shown_type(content_type: str) -> str:
    """The media type of the header Content-Type, in an error. It is what others sent."""
    essence = content_type.partition(";")[0].strip().lower()
    if not essence:
        return "no media type"
    return essence if _ESSENCE.fullmatch(essence) else "a malformed media type"


def is_text(mime_type: str) -> bool:
    """Whether content of this media type is sent as text. Upper case means the same (RFC 6838)."""
    name = mime_type.lower()
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))
