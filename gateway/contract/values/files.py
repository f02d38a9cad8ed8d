"""Bytes that are a result, such as an image or an archive: an upstream's reply, or a handler's."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.values.blocks import BLOCKS_TYPE

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
