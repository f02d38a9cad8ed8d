"""What a document says about how its vendor signs messages. The rest is a question of the draft."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.mapping.events.check import text_objection
from gateway.mapping.fields.analysis.scope import Scope
from gateway.openapi.lowering.webhooks import InboundMessage
from gateway.signatures.registry import DELIVERIES, SCHEMES, scheme_of

_IN_HEADER: Final = next(
    name for name, kind in SCHEMES.items() if {"header", "prefix"} <= {*kind.__struct_fields__}
)
"""The scheme that signs in a header which the contract names."""
_SIGNATURE: Final = "signature"
_PREFIX: Final = "sha256="
_DELIVERY: Final = "delivery"
_IDS: Final = ("/id", "/event_id", "/eventId", "/message_id", "/messageId")
_TEXT: Final = {"type": "string"}


def authentication_of(messages: Sequence[InboundMessage]) -> dict[str, str]:
    """How the messages seem to be signed: in a header that all of them declare for it, else as the
    gateway signs its own deliveries."""
    own = {each.lower() for each in DELIVERIES.headers}
    for name in _shared_headers(messages):
        if _SIGNATURE in name.lower() and name.lower() not in own:
            is_prefixed = any(each.startswith(_PREFIX) for each in messages[0].headers[name])
            return {
                "scheme": _IN_HEADER,
                "header": name,
                **({"prefix": _PREFIX} if is_prefixed else {}),
            }
    return {"scheme": DELIVERIES.name}


def message_id_of(
    authentication: Mapping[str, str],
    messages: Sequence[InboundMessage],
    bodies: Sequence[dict[str, Any]],
) -> dict[str, str] | None:
    """Where the messages seem to have an id that a repeated one has again. None: nowhere."""
    signed = scheme_of(dict(authentication)).signed_headers
    for name in (*signed, *_shared_headers(messages)):
        if (name in signed and name.endswith("-id")) or _DELIVERY in name.lower():
            return {"header": name}
    scopes = [Scope(payload=each) for each in bodies]
    for pointer in _IDS:
        if not any(text_objection(each, pointer, _TEXT) for each in scopes):
            return {"pointer": pointer}
    return None


def _shared_headers(messages: Sequence[InboundMessage]) -> list[str]:
    """The headers that all messages declare, as the first one writes them."""
    others = [{name.lower() for name in each.headers} for each in messages[1:]]
    return [name for name in messages[0].headers if all(name.lower() in each for each in others)]
