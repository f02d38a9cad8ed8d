"""The credentials of the contract of an upstream: its security schemes and requirements."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from gateway.contract.slots import CredentialSlot

_FLOWS: Final[Mapping[str, Literal["client_credentials", "refresh_token"]]] = {
    "clientCredentials": "client_credentials",
    "authorizationCode": "refresh_token",
}
_KINDS: Final[Mapping[str, Literal["api_key", "oauth2", "mutual_tls"]]] = {
    "apiKey": "api_key",
    "oauth2": "oauth2",
    "mutualTLS": "mutual_tls",
}


def slots_of(document: Mapping[str, Any]) -> tuple[CredentialSlot, ...]:
    """The credential slots of a valid document, sorted by name."""
    schemes = document.get("components", {}).get("securitySchemes", {})
    return tuple(slot_of(name, scheme) for name, scheme in sorted(schemes.items()))


def slot_of(name: str, scheme: Mapping[str, Any]) -> CredentialSlot:
    """The slot of a Security Scheme Object."""
    flows: Mapping[str, Mapping[str, str]] = scheme.get("flows", {})
    flow = next(iter(flows), None)
    return CredentialSlot(
        name=name,
        kind=scheme["scheme"] if scheme["type"] == "http" else _KINDS[scheme["type"]],
        description=scheme.get("description", ""),
        location=scheme.get("in"),
        key_name=scheme.get("name"),
        flow=_FLOWS[flow] if flow else None,
        token_url=flows[flow]["tokenUrl"] if flow else None,
    )


def requirements_of(
    document: Mapping[str, Any], operation: Mapping[str, Any]
) -> Sequence[Mapping[str, Sequence[str]]]:
    """The alternatives of `operation`: its own, or those of the document.

    Empty if it needs no credentials.
    """
    found: Sequence[Mapping[str, Sequence[str]]] = operation.get(
        "security", document.get("security", ())
    )
    return found if any(found) else ()
