"""Field functions of the connector `ntfy`: what expressions cannot express."""

from datetime import UTC, datetime
from typing import Final

from gateway.contract.connector import mapping_function
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import Unmappable

MAX_MESSAGE_BYTES: Final = 4096
"""The maximum size of a message. ntfy turns a longer one into an attachment."""


@mapping_function
def within_bytes(message: str) -> str:
    """`message`. Raises `Unmappable` if it has more than `MAX_MESSAGE_BYTES` in UTF-8."""
    size = len(message.encode())
    if size > MAX_MESSAGE_BYTES:
        detail = f"is {size} bytes in UTF-8; the maximum is {MAX_MESSAGE_BYTES}"
        raise Unmappable("/message", detail)
    return message


@mapping_function
def moment(seconds: int) -> str:
    """Seconds since 1970 as RFC 3339 in UTC."""
    return rfc3339(datetime.fromtimestamp(seconds, UTC))
