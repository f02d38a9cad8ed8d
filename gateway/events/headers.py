"""The header fields that an endpoint has of its own, such as `Authorization` for its edge.

Their values are secrets: they are stored encrypted, and sent with each delivery.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Final

from gateway.contract.event import TRACEPARENT
from gateway.contract.outbound import header_refusal
from gateway.contract.values.pointers import pointer_of
from gateway.errors import InvalidArguments
from gateway.events.secrets import Keyring
from gateway.signatures.registry import DELIVERIES
from gateway.store.records import Endpoint
from gateway.trace_context import TRACESTATE

MAX_HEADERS: Final = 10
MAX_VALUE: Final = 2048
"""The most characters of a value. Most servers accept 8 KB of header fields."""
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_VALUE: Final = re.compile(rf"(?! )[\x20-\x7e]{{1,{MAX_VALUE}}}(?<! )")
_SET: Final = frozenset(
    {"user-agent", TRACEPARENT, TRACESTATE}
    | DELIVERIES.signed_headers
    | DELIVERIES.credential_headers
)
"""What the gateway sets, besides the fields of the connection."""
_SET_FAMILIES: Final = ("content-", "webhook-")


def read_headers(given: Mapping[str, str]) -> dict[str, str]:
    """`given` with the names in lower case.

    Raises `InvalidArguments` for a name that the gateway sets itself or that is none, and for a
    value that is not one short line of ASCII. The error does not contain the value.
    """
    if len(given) > MAX_HEADERS:
        detail = f"an endpoint has at most {MAX_HEADERS} headers of its own"
        raise InvalidArguments.at("/headers", "maxProperties", detail)
    found: dict[str, str] = {}
    for name, value in given.items():
        lowered = name.lower()
        if (why := _refusal(name)) is not None:
            raise _refused(name, "propertyNames", why)
        if lowered in found:
            raise _refused(name, "uniqueItems", "is given twice, in different cases")
        if not _VALUE.fullmatch(value):
            why = f"must be 1 to {MAX_VALUE} printable ASCII characters, without blanks around them"
            raise _refused(name, "pattern", why)
        found[lowered] = value
    return found


def seal_headers(
    keyring: Keyring, endpoint_id: str, headers: Mapping[str, str]
) -> dict[str, bytes]:
    """The values of `headers`, encrypted. Each can be opened only under its name."""
    return {name: keyring.seal(value, _owner(endpoint_id, name)) for name, value in headers.items()}


def open_headers(keyring: Keyring, endpoint: Endpoint) -> dict[str, str]:
    """The headers of `endpoint`. Raises `StoreError` as `Keyring.open` does."""
    return {
        name: keyring.open(sealed, _owner(endpoint.id, name))
        for name, sealed in endpoint.headers.items()
    }


def spellings(value: str) -> Iterator[str]:
    """Every text in which the secret of a header may occur in what a receiver writes."""
    yield value
    _scheme, *words = value.split(" ")
    for word in words or [value]:
        yield word
        try:
            decoded = base64.b64decode(word, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        # HTTP Basic (RFC 7617): the user and the password.
        yield decoded
        yield decoded.partition(":")[2]


def _owner(endpoint_id: str, name: str) -> str:
    return f"{endpoint_id}/{name}"


def _refusal(name: str) -> str | None:
    if not _NAME.fullmatch(name):
        return "is not the name of a header field of at most 64 characters"
    lowered = name.lower()
    if lowered in _SET or lowered.startswith(_SET_FAMILIES) or header_refusal(name):
        return "is set by the gateway or belongs to the connection; use another name"
    return None


def _refused(name: str, keyword: str, why: str) -> InvalidArguments:
    shown = "".join(each for each in name[:64] if each.isprintable())
    return InvalidArguments.at(pointer_of(["headers", shown]), keyword, why)
