"""The credentials of an ejected operation, in the form of the contract of an upstream."""

from collections.abc import Iterable
from typing import Any, Final

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.slots import CredentialSlot

_FLOWS: Final = {"client_credentials": "clientCredentials", "refresh_token": "authorizationCode"}


def security_of(operation: ImportedOperation) -> list[dict[str, list[str]]]:
    """The Security Requirement Objects of `operation`. Empty: it needs no credentials."""
    return [{use.slot: list(use.scopes) for use in uses} for uses in operation.security]


def schemes_of(
    connector: ImportedConnector, operations: Iterable[ImportedOperation]
) -> dict[str, Any]:
    """The Security Scheme Objects that `operations` name, by name."""
    used = {use.slot for each in operations for uses in each.security for use in uses}
    return {slot.name: _scheme(slot) for slot in connector.slots if slot.name in used}


def _scheme(slot: CredentialSlot) -> dict[str, Any]:
    described = {"description": slot.description} if slot.description.strip() else {}
    match slot.kind:
        case "api_key":
            place = slot.location or "header"
            return {"type": "apiKey", **described, "in": place, "name": slot.key_name}
        case "mutual_tls":
            return {"type": "mutualTLS", **described}
        case "oauth2":
            return {"type": "oauth2", **described, "flows": _flows(slot)}
        case _:
            return {"type": "http", **described, "scheme": slot.kind}


def _flows(slot: CredentialSlot) -> dict[str, Any]:
    if slot.flow is None:
        return {}
    return {_FLOWS[slot.flow]: {"tokenUrl": slot.token_url, "scopes": {}}}
