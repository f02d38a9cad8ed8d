"""The reason of a refused request, from Amadeus' error body."""

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from gateway.contract.context import UpstreamReply
from gateway.errors import UpstreamRejected


class AmadeusRefusal(Struct, frozen=True, kw_only=True):
    """All errors of one reply."""

    error: Exception
    """What to raise for a refusal that has no specific meaning."""
    codes: frozenset[int]
    """Amadeus' own codes. It sends numbers, or numbers as text with leading zeros."""
    parameters: tuple[str, ...]
    """The query parameters that the errors name, as Amadeus writes them."""

    def is_only(self, codes: Collection[int]) -> bool:
        """Whether there is a code, and each is one of `codes`."""
        return bool(self.codes) and self.codes.issubset(codes)


def refusal(reply: UpstreamReply) -> AmadeusRefusal:
    """The errors of `reply`, an error reply that is valid against the upstream's contract."""
    errors = (reply.body or {}).get("errors", [])
    return AmadeusRefusal(
        error=reply.failure or UpstreamRejected(),
        codes=frozenset(code for each in errors if (code := _code(each)) is not None),
        parameters=tuple(
            parameter for each in errors if (parameter := each.get("source", {}).get("parameter"))
        ),
    )


def _code(error: Mapping[str, Any]) -> int | None:
    code = str(error.get("code", ""))
    return int(code) if code.isascii() and code.isdigit() else None
