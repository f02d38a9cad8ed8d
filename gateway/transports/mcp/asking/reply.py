"""The answers of clients to requests of the gateway, in the handshake revisions."""

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType


class ReplyError(Struct, frozen=True):
    """Why a client does not answer a question."""

    code: int
    message: str


class ClientReply(Struct, frozen=True):
    """What a client answers: a result or an error."""

    jsonrpc: Literal["2.0"]
    id: int | str
    result: Any = UNSET
    error: ReplyError | UnsetType = UNSET
    method: Any = UNSET
    """Makes it another message."""


_decode: Final = msgspec.json.Decoder(ClientReply).decode


def reply_of(text: bytes) -> ClientReply | None:
    """The message, if it is an answer; None for every other message."""
    try:
        found = _decode(text)
    except msgspec.DecodeError:
        return None
    has_one = (found.result is UNSET) is not (found.error is UNSET)
    return found if has_one and found.method is UNSET else None
