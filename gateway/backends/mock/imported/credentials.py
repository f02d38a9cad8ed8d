"""Checks that a request has credentials for one alternative of its operation's requirements."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from gateway.backends.mock.requests import RequestRefused
from gateway.backends.wire import WireRequest
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.mock import MockRefusal
from gateway.contract.slots import CredentialSlot


class SlotCheck:
    """Refuses requests without credentials. A credential may be any text that is not empty."""

    def __init__(self, connector: ImportedConnector) -> None:
        self._slots = {each.name: each for each in connector.slots}

    def check(self, operation: ImportedOperation, request: WireRequest) -> None:
        """Raise `RequestRefused` with 401 if no alternative is complete."""
        if not operation.security:
            return
        headers = {name.lower(): value for name, value in request.headers}
        query = dict(parse_qsl(request.target.partition("?")[2]))
        for uses in operation.security:
            slots = [self._slots[use.slot] for use in uses if use.slot in self._slots]
            if all(_is_filled(slot, headers, query) for slot in slots):
                return
        wanted = " or ".join(" with ".join(use.slot for use in uses) for uses in operation.security)
        title = f"Credentials are required: {wanted}."
        raise RequestRefused(MockRefusal(status=401, title=title, reason="missing_credentials"))

    @property
    def secret_names(self) -> frozenset[str]:
        """The query parameters that contain credentials."""
        return frozenset(
            each.key_name or each.name for each in self._slots.values() if each.location == "query"
        )


def _is_filled(slot: CredentialSlot, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
    name = slot.key_name or slot.name
    match slot.kind, slot.location:
        case "mutual_tls", _:
            return True
        case "api_key", "query":
            return bool(query.get(name))
        case "api_key", "cookie":
            return f"{name}=" in headers.get("cookie", "")
        case "api_key", _:
            return bool(headers.get(name.lower()))
        case "basic", _:
            return headers.get("authorization", "").lower().startswith("basic ")
    return headers.get("authorization", "").lower().startswith("bearer ")
