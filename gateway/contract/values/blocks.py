"""Results that are lists of content blocks. The schema is `schemas/common/content.json`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

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
