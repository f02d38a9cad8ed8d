"""Schemas of bytes: base64 text in arguments and results, which are JSON."""

import re
from typing import Any, Final

BASE64_HINT: Final = "Bytes, encoded as base64 (RFC 4648 §4)."
_TEXT_TYPES: Final = re.compile(r"text/|application/(?:.*\+)?(?:json|xml)\b", re.IGNORECASE)


def say_base64(lowered: dict[str, Any]) -> None:
    """Say in a lowered schema of bytes that its values are base64 text."""
    if "contentMediaType" in lowered and are_octets(lowered["contentMediaType"]):
        if lowered.setdefault("contentEncoding", "base64") == "base64":
            own = lowered.get("description", "").strip()
            lowered["description"] = f"{own} {BASE64_HINT}".strip()
        lowered.setdefault("type", "string")


def are_octets(media_type: str) -> bool:
    """Whether content of `media_type` is no text."""
    return not _TEXT_TYPES.match(media_type)
