"""What is searched of a tool: its terms by field, and how much each field counts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.catalogue import ToolListing
from gateway.contract.operation import Effect
from gateway.contract.selection.argument import FIELDS as SELECTED
from gateway.publication.search.index import Field
from gateway.publication.search.words import terms

FIELDS: Final[Mapping[str, Field]] = {
    "title": Field(2.0, 0.9),
    "name": Field(3.0, 0.9),
    "summary": Field(1.0, 0.5),
    "path": Field(4.0, 0.6),
    "action": Field(1.4, 0.0),
    "description": Field(0.1, 0.7),
    "arguments": Field(0.15, 0.8),
    "meanings": Field(0.3, 0.8),
    "results": Field(0.25, 0.8),
}
_MAX_DESCRIPTION: Final = 2_000
"""Characters. What a tool does is said first; the rest of a vendor's page is about other things."""
_MAX_MEANING: Final = 120
_RESULT_DEPTH: Final = 3
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
    return {
        "title": terms(listing.title),
        "name": terms(listing.name),
        "summary": terms(summary),
        "path": terms(_PARAMETER.sub(" ", path)),
        "action": [*_action(method, path), f"effect:{effect.value}"],
        "description": terms(rest),
        "arguments": terms(" ".join(_names(listing.input_schema))),
        "meanings": terms(" ".join(_meanings(listing.input_schema))),
        "results": terms(" ".join(_returned(listing.output_schema, _RESULT_DEPTH))),
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


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names and titles of the arguments."""
    for name, member in _members(schema):
        yield name
        if isinstance(member.get("title"), str):
            yield member["title"]


def _meanings(schema: Mapping[str, Any]) -> Iterator[str]:
    """The beginnings of the descriptions of the arguments."""
    for _, member in _members(schema):
        if isinstance(member.get("description"), str):
            yield first_sentence(member["description"])[:_MAX_MEANING]


def _returned(schema: Any, depth: int) -> Iterator[str]:
    """The names of the members of a result: what a question often asks for."""
    if not isinstance(schema, dict) or depth == 0:
        return
    for name, member in _members(schema):
        yield name
        yield from _returned(member, depth - 1)
    yield from _returned(schema.get("items"), depth)


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments with their schemas, except `fields`, which nearly all tools have."""
    for name, member in schema.get("properties", {}).items():
        if isinstance(member, dict) and name != SELECTED:
            yield name, member
