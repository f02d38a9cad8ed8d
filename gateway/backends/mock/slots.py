"""Checks that a request has credentials for one alternative of its operation's requirements."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl

from gateway.backends.mock.requests import RequestRefused
from gateway.backends.wire import WireRequest
from gateway.contract.mock import MockRefusal
from gateway.contract.slots import CredentialSlot


class SlotCheck:
    """Refuses requests without credentials. A credential may be any text that is not empty."""

    def __init__(self, slots: Iterable[CredentialSlot]) -> None:
        self._slots = {each.name: each for each in slots}

    def check(self, alternatives: Sequence[Sequence[str]], request: WireRequest) -> None:
        """Raise `RequestRefused` with 401 if no alternative is complete: names of slots."""
        if not alternatives:
            return
        headers = {name.lower(): value for name, value in request.headers}
        query = dict(parse_qsl(request.target.partition("?")[2]))
        for names in alternatives:
            slots = [self._slots[name] for name in names if name in self._slots]
            if all(_is_filled(slot, headers, query) for slot in slots):
                return
        wanted = " or ".join(map(" with ".join, alternatives))
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
