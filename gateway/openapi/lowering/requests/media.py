"""Media types: how a body or a reply with one is handled (RFC 9110 §8.3.1, RFC 6839)."""

from typing import Final, Literal

MediaKind = Literal["json", "form", "multipart", "text", "xml", "binary", "events", "range", "any"]
"""`any`: the range `*/*`, or one of application types. `range`: any other range."""

FORM: Final = "application/x-www-form-urlencoded"
LINES: Final = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/stream+json",
    }
)
"""Each line is a JSON value."""
_EVENTS: Final = LINES | {"text/event-stream", "application/json-seq"}
_JSON: Final = frozenset({"application/json", "text/json", "application/x-json"})
_TEXT: Final = frozenset(
    {
        "application/javascript",
        "application/graphql",
        "application/sdp",
        "application/sql",
        "application/toml",
        "application/yaml",
        "application/x-yaml",
    }
)
_ANY: Final = frozenset({"*/*", "application/*", "*"})
_EXACT: Final[dict[str, MediaKind]] = {
    **dict.fromkeys(_EVENTS, "events"),
    **dict.fromkeys(_JSON, "json"),
    **dict.fromkeys(_TEXT, "text"),
    **dict.fromkeys(_ANY, "any"),
    FORM: "form",
    "multipart/form-data": "multipart",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/*": "text",
}


def essence(media_type: str) -> str:
    """`media_type` in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()


def kind_of(media_type: str) -> MediaKind:
    """How content of `media_type` is handled."""
    name = essence(media_type)
    if name in _EXACT:
        return _EXACT[name]
    if name.endswith("+json"):
        return "json"
    if name.endswith(("+xml", "+yaml")):
        return "xml" if name.endswith("+xml") else "text"
    if "*" in name:
        return "range"
    return "text" if name.startswith("text/") else "binary"
