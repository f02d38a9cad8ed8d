"""Which media types are sent as text, and how those that others send are named in errors."""

import re
from typing import Final

_TEXTS: Final = frozenset(
    {"application/javascript", "application/json", "application/xml", "application/yaml"}
)


_ESSENCE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")


def shown_type(content_type: str) -> str:
    """The media type of the header Content-Type, in an error. It is what others sent."""
    essence = content_type.partition(";")[0].strip().lower()
    if not essence:
        return "no media type"
    return essence if _ESSENCE.fullmatch(essence) else "a malformed media type"


def is_text(mime_type: str) -> bool:
    """Whether content of this media type is sent as text. Upper case means the same (RFC 6838)."""
    name = mime_type.lower()
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))
