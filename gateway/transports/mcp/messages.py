"""What clients say about the transport itself, and what they are answered to other messages."""

from typing import Any, Final

import msgspec
from msgspec import Struct, field

from gateway.contract.operation import Requirement
from gateway.transports.json_rpc import Refusal, invalid
from gateway.transports.mcp.protocol import asks_in_handshake


class Initialize(Struct, tag_field="method", tag="initialize"):
    """The first request of a client, in the handshake revisions."""

    params: Any = None

    @property
    def client(self) -> str:
        """The name with which the client introduces itself. Empty if it says none."""
        params = self.params
        return client_name(params.get("clientInfo") if isinstance(params, dict) else None)

    @property
    def asks(self) -> frozenset[Requirement]:
        """What the client can be asked."""
        return asks_in_handshake(self.params)


class _CancelledParams(Struct):
    request: int | str = field(name="requestId")


class Cancelled(Struct, tag_field="method", tag="notifications/cancelled"):
    """The client no longer waits for the answer to a request."""

    params: _CancelledParams


_controls: Final[msgspec.json.Decoder[Initialize | Cancelled]] = msgspec.json.Decoder(
    Initialize | Cancelled
)


def client_name(info: Any) -> str:
    """The name in a `clientInfo`. Empty if there is none: the SDK then refuses the message."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def control_of(text: bytes) -> Initialize | Cancelled | None:
    """The message, if it concerns the transport itself; None for every other message."""
    try:
        return _controls.decode(text)
    except msgspec.DecodeError:
        return None


def not_awaited(request_id: str) -> Refusal:
    """The refusal of an answer that no call waits for."""
    detail = (
        "No call of this key and session waits for this answer. It was answered before, the call"
        " has ended, or another gateway has asked."
    )
    return invalid(None, detail, request_id)
