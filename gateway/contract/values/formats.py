"""The formats of text that are checked."""

from typing import Final

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
