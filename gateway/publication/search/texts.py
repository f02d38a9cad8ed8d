"""What is searched of a tool: its terms by field, and how much each field counts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.catalogue import ToolListing
from gateway.contract.operation import Effect
from gateway.publication.search.index import Field
from gateway.publication.search.words import terms

FIELDS: Final[Mapping[str, Field]] = {
    "title": Field(2.0, 0.8),
    "name": Field(3.0, 0.9),
    "summary": Field(1.0, 0.5),
    "path": Field(3.0, 0.4),
    "action": Field(1.4, 0.0),
    "description": Field(0.1, 0.7),
    "arguments": Field(0.25, 0.8),
}
_MAX_DESCRIPTION: Final = 2_000
"""Characters. What a tool does is said first; the rest of a vendor's page is about other things."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_MARKUP: Final = re.compile(r"<[^>]{0,200}>|\]\([^)\s]{0,500}\)|https?://\S+")
_PARAMETER: Final = re.compile(r"\{([^}]*)\}")
_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "POST": ("creat",),
    "PUT": ("updat", "set"),
    "PATCH": ("updat",),
    "DELETE": ("delet", "remov"),
}


def searched_terms(
    listing: ToolListing, effect: Effect, method: str = "", path: str = ""
) -> dict[str, list[str]]:
    """The terms of a tool by field. `method` and `path` are those of the upstream, if known."""
    summary, rest = _split(listing.description)
    properties = listing.input_schema.get("properties", {})
    return {
        "title": terms(listing.title),
        "name": terms(listing.name),
        "summary": terms(summary),
        "path": terms(_PARAMETER.sub(" ", path)),
        "action": [*_action(method, path), f"effect:{effect.value}"],
        "description": terms(rest),
        "arguments": terms(" ".join(_arguments(properties))),
    }


def first_sentence(description: str) -> str:
    """The first sentence or paragraph, without markup."""
    return _split(description)[0]


def _split(description: str) -> tuple[str, str]:
    """The first sentence and what follows, of the beginning of a description."""
    plain = _MARKUP.sub(" ", description[:_MAX_DESCRIPTION])
    summary, *rest = _SENTENCE.split(plain.strip(), maxsplit=1)
    return summary, " ".join(rest)


def _action(method: str, path: str) -> tuple[str, ...]:
    """The usual meaning of a method, since some vendors' titles have none."""
    if method == "GET":
        return ("get",) if path.endswith("}") else ("list",)
    return _ACTIONS.get(method, ())


def _arguments(properties: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in properties.items():
        yield name
        if isinstance(schema, dict) and isinstance(schema.get("title"), str):
            yield schema["title"]
