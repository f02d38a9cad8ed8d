"""Which media types are sent as text, where their hidden characters are removed."""

from typing import Final

_TEXTS: Final = frozenset(
    {"application/javascript", "application/json", "application/xml", "application/yaml"}
)


def is_text(mime_type: str) -> bool:
    """Whether content of this media type is sent as text. Upper case means the same (RFC 6838)."""
    name = mime_type.lower()
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))
