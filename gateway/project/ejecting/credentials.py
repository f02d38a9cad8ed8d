"""The credentials of an ejected operation, in the form of the contract of an upstream."""

from typing import Any, Final

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.slots import CredentialSlot
from gateway.project.ejecting.results import Unexpressed

_PLAIN: Final = frozenset({"api_key", "bearer"})
"""The kinds whose secret is sent as it is."""


def credentials_of(
    connector: ImportedConnector, operation: ImportedOperation
) -> tuple[dict[str, Any], list[Unexpressed]]:
    """The members of `x-upstream` for the credentials, and what cannot be expressed."""
    needed = [uses for uses in operation.security if uses]
    if not needed:
        return {}, []
    if len(needed) > 1:
        return {}, [Unexpressed("credentials", "the document allows several kinds of credentials")]
    is_optional = len(needed) < len(operation.security)
    slots = {slot.name: slot for slot in connector.slots}
    used = [slots[use.slot] for use in needed[0]]
    if found := [why for slot in used if (why := _why_not(slot))]:
        return {}, [Unexpressed("credentials", f"it needs {each}") for each in found]
    if is_optional and len(used) > 1:
        return {}, [Unexpressed("credentials", "it needs several optional credentials together")]
    members: dict[str, Any] = {
        "credentials": [_credential(slot, is_optional=is_optional) for slot in used]
    }
    for slot in used:
        place, name, template = _sent(slot)
        members.setdefault(place, []).append({"name": name, "template": template})
    return members, []


def _why_not(slot: CredentialSlot) -> str | None:
    if slot.kind == "api_key" and slot.location == "cookie":
        return f"a key in the cookie {slot.key_name}"
    return None if slot.kind in _PLAIN else f"{slot.name}, of the kind {slot.kind}"


def _credential(slot: CredentialSlot, *, is_optional: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": slot.name,
        "description": slot.description.strip() or "From the console of the vendor.",
    }
    return {**found, "required": False} if is_optional else found


def _sent(slot: CredentialSlot) -> tuple[str, str, str]:
    """The member of `x-upstream`, the name and the template."""
    value = f"{{credential.{slot.name}}}"
    if slot.kind == "bearer":
        return "headers", "Authorization", f"Bearer {value}"
    place = "query" if slot.location == "query" else "headers"
    return place, str(slot.key_name), value
