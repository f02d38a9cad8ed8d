"""Field functions of the connector `ntfy`: what its field maps cannot say in one expression."""

from datetime import UTC, datetime
from typing import Final

from gateway.contract.connector import mapping_function
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable

MAX_MESSAGE_BYTES: Final = 4096
"""What ntfy takes as a message; anything longer it would turn into an attachment."""


@mapping_function
def within_bytes(message: str) -> str:
    """`message`, if ntfy takes it as one. Raises `Unmappable` for more bytes in UTF-8."""
    size = len(message.encode())
    if size > MAX_MESSAGE_BYTES:
        detail = f"is {size} bytes in UTF-8, and {MAX_MESSAGE_BYTES} are the most"
        raise Unmappable("/message", detail)
    return message


@mapping_function
def moment(seconds: int) -> str:
    """A moment given as seconds since 1970, RFC 3339 in UTC."""
    return rfc3339(datetime.fromtimestamp(seconds, UTC))
