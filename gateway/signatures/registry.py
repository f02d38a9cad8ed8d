"""The signature schemes that there are.

A new one is its module, its name in `SCHEMES`, and its rules in `x-webhook.schema.json`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.scheme import SignatureScheme
from gateway.signatures.standard import SIGNATURE, StandardSignature

SCHEMES: Final[dict[str, type[SignatureScheme]]] = {
    str(each.__struct_config__.tag): each
    for each in (HmacSignature, StandardSignature, BasicCredentials)
}
"""By the name that contracts give them."""
DELIVERIES: Final[SignatureScheme] = StandardSignature()
"""How the gateway proves itself to those whom it sends events."""
_ALWAYS_A_PROOF: Final = frozenset({"authorization", "proxy-authorization", "cookie", SIGNATURE})


class InvalidScheme(ValueError):
    """What a contract says of a proof names no scheme, or not what the scheme reads."""


def scheme_of(rules: Mapping[str, Any]) -> SignatureScheme:
    """The scheme that the member `proof` of a contract describes. Raises `InvalidScheme`."""
    name = rules["scheme"]
    if name not in SCHEMES:
        raise InvalidScheme(f"{name} is no signature scheme; known are {', '.join(SCHEMES)}")
    try:
        return msgspec.convert(rules, SCHEMES[name])
    except msgspec.ValidationError as error:
        raise InvalidScheme(f"{name}: {error}") from None


def is_registered(scheme: object) -> bool:
    """Whether `scheme` is one of `SCHEMES`, and not of another version of it."""
    return isinstance(scheme, SignatureScheme) and SCHEMES.get(scheme.name) is type(scheme)


def never_stored(schemes: Iterable[SignatureScheme]) -> frozenset[str]:
    """Lower-case names of the header fields that are not stored of messages with such proofs."""
    return _ALWAYS_A_PROOF.union(*(scheme.proof_headers for scheme in schemes))
