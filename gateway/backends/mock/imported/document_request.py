"""What a request to the mock of an imported document asks for."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class DocumentRequest(Struct, frozen=True, kw_only=True):
    """A request, as far as the mock understands it."""

    path: str
    """The concrete path, percent-encoded, without a trailing slash."""
    parameters: Mapping[str, str] = {}
    """Path parameters, decoded."""
    query: Mapping[str, str] = {}
    """The first value of each query parameter."""
    accept: str = ""
    body: Any = None
    """The value of a JSON or form body. None: there is none, or it is of another media type."""
    fingerprint: str = ""
    """The operation and its arguments as one text."""
