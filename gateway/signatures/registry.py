"""The list of signature schemes.

A new scheme needs a module, an entry in `SCHEMES`, and its rules in `x-webhook.schema.json`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.public_key import PublicKeySignature
from gateway.signatures.scheme import SignatureScheme
from gateway.signatures.shared_secret import SharedSecret
from gateway.signatures.standard import SIGNATURE, StandardSignature

SCHEMES: Final[dict[str, type[SignatureScheme]]] = {
    str(each.__struct_config__.tag): each
    for each in (
        HmacSignature,
        PublicKeySignature,
        StandardSignature,
        SharedSecret,
        BasicCredentials,
    )
}
"""The schemes by their names in contracts."""
DELIVERIES: Final[SignatureScheme] = StandardSignature()
"""The scheme with which the gateway signs its deliveries."""
_CREDENTIAL_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", SIGNATURE}
)


class InvalidScheme(ValueError):
    """The `authentication` of a contract names no scheme, or has members that it refuses."""


def scheme_of(rules: Mapping[str, Any]) -> SignatureScheme:
    """The scheme of the member `authentication` of a contract. Raises `InvalidScheme`."""
    name = rules["scheme"]
    if name not in SCHEMES:
        raise InvalidScheme(f"{name} is no signature scheme; known are {', '.join(SCHEMES)}")
    try:
        return msgspec.convert(rules, SCHEMES[name])
    except msgspec.ValidationError as error:
        raise InvalidScheme(f"{name}: {error}") from None


def is_registered(scheme: object) -> bool:
    """Whether the class of `scheme` is one of `SCHEMES`."""
    return isinstance(scheme, SignatureScheme) and SCHEMES.get(scheme.name) is type(scheme)


def never_stored(schemes: Iterable[SignatureScheme]) -> frozenset[str]:
    """Lower-case names of the header fields that are not stored of messages with these schemes."""
    return _CREDENTIAL_HEADERS.union(*(scheme.credential_headers for scheme in schemes))
