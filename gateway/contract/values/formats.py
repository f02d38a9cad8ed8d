"""The formats of text that are checked."""

from collections.abc import Callable, Mapping
from typing import Final

import jsonschema_rs

FORMATS: Final = frozenset(
    [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "uuid",
    ]
)
"""Formats that the validator asserts (JSON Schema Validation 2020-12 §7.3)."""


ANNOTATED: Final = "x-format"
"""The keyword of a format that is not checked, such as those of an import's results."""


def _address(name: str) -> Callable[[str], bool]:
    """The check of the format `name` for an address alone.

    The library's own takes a mailbox with a display name too: `A Name <a@b.co>` (RFC 5322 §3.4).
    """
    known = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
    return lambda text: not text.endswith(">") and known.is_valid(text)


OWN_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    name: _address(name) for name in ("email", "idn-email")
}
"""Formats that are checked in another way than the library does."""
