"""Contents that Python functions make. Their media type says whether they are text or bytes."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.catalogue.offered import OpenResource
from gateway.contract.offered.resource import LARGEST
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.media_types import is_text
from gateway.errors import InternalError, UnknownOperation

HANDLER_SECONDS: Final = 30.0
"""How long a Python function may take for a resource."""


class MadeContents(Struct, frozen=True, kw_only=True):
    """Exactly one of `text` and `blob` is set."""

    text: str | None = None
    blob: str | None = None
    """In base64 (RFC 4648 section 4)."""
    hidden_characters: int = 0
    """How many invisible characters were removed from the text."""
    job_id: None = None
    fallbacks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


async def made_by(opened: OpenResource, values: Mapping[str, str]) -> MadeContents:
    """What the function of the resource makes of the variables.

    Raises `UnknownOperation` if it makes nothing of them, and `InternalError` if it makes something
    else than the media type says, or more than `LARGEST` bytes.
    """
    if opened.run is None:
        raise InternalError("The function of a resource was not opened.")
    async with asyncio.timeout(HANDLER_SECONDS):
        found: Any = await opened.run(values)
    if found is None:
        raise UnknownOperation
    mime_type = opened.declared.mime_type
    may_be_text = is_text(mime_type)
    content = found.encode() if may_be_text and isinstance(found, str) else found
    if not isinstance(content, bytes) or len(content) > LARGEST:
        kind = "text" if may_be_text else "bytes"
        raise InternalError(f"The function returned no {kind} up to {LARGEST} bytes.")
    if not may_be_text:
        return MadeContents(blob=base64.b64encode(content).decode("ascii"))
    try:
        text, hidden = visible_text(content.decode())
    except UnicodeDecodeError as error:
        raise InternalError(f"The function returned no UTF-8 as {mime_type}.") from error
    return MadeContents(text=text, hidden_characters=hidden)
