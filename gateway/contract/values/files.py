"""Bytes that an upstream answered with, such as an image or an archive."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

OCTETS: Final = "application/octet-stream"


class FileContent(Struct, frozen=True, kw_only=True):
    """The bytes and their media type."""

    media_type: str
    """Without parameters. It is syntactically valid (RFC 9110 §8.3.1)."""
    data: bytes
    members: Mapping[str, Any] = {}
    """What the result says besides."""

    @property
    def base64(self) -> str:
        """The bytes in base64 (RFC 4648 §4)."""
        return base64.b64encode(self.data).decode("ascii")

    def facts(self) -> dict[str, Any]:
        """What a result says of the bytes: the media type, the size in bytes, and `members`."""
        return {"content_type": self.media_type, "size": len(self.data), **self.members}
