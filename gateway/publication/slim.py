"""The schemas of the mode `slim`: what costs tokens and says nothing to a model is left out.

Every keyword that restricts arguments stays, `additionalProperties: false` too: without it, models
make up members, and hosts with a strict mode refuse the schema.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gateway.publication.prose import MEMBER_CHARACTERS, shortened

_UNSAID: Final = frozenset({"$schema", "$comment", "externalDocs", "xml"})
_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_ONES: Final = frozenset(
    {
        "items",
        "additionalProperties",
        "additionalItems",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_WORD: Final = re.compile(r"\w+")
_ROOT_WORDS: Final = "input"


def slim_schema(schema: Mapping[str, Any], context: str) -> dict[str, Any]:
    """`schema` without what repeats `context`, which is the tool's name, title and description.

    The result accepts the same values. It shares unchanged parts with `schema`.
    """
    return _slim(schema, f"{context} {_ROOT_WORDS}")


def with_short_texts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with shortened descriptions.

    It is for schemas of contracts: the notes of a client profile are added behind a short text.
    """
    short = {
        keyword: _with_short_texts(keyword, value) if isinstance(value, dict | list) else value
        for keyword, value in schema.items()
    }
    text = schema.get("description")
    if isinstance(text, str):
        short["description"] = shortened(text, MEMBER_CHARACTERS)
    return short


def _with_short_texts(keyword: str, value: Any) -> Any:
    return _each(keyword, value, lambda part, _: with_short_texts(part))


def _slim(schema: Mapping[str, Any], context: str) -> dict[str, Any]:
    slim: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _UNSAID or keyword.startswith("x-"):
            continue
        if keyword == "title" and isinstance(value, str):
            if not _is_said(value, f"{context} {schema.get('description', '')}"):
                slim[keyword] = value
        else:
            slim[keyword] = _each(keyword, value, _slim)
    return slim


def _each(keyword: str, value: Any, change: Callable[[dict[str, Any], str], Any]) -> Any:
    """The value of `keyword` with `change(schema, name)` in the place of each schema in it."""

    def changed(schema: Any, name: str = "") -> Any:
        return change(schema, name) if isinstance(schema, dict) else schema

    if keyword in _MAPS and isinstance(value, dict):
        return {name: changed(each, name) for name, each in value.items()}
    if keyword in _LISTS and isinstance(value, list):
        return [changed(each) for each in value]
    return changed(value) if keyword in _ONES else value


def _is_said(title: str, elsewhere: str) -> bool:
    """Whether each word of `title` is also in the texts `elsewhere`, in any order."""
    return _words(title) <= _words(elsewhere)


def _words(text: str) -> frozenset[str]:
    """The words in lower case. Letters of any script and digits make words."""
    return frozenset(_WORD.findall(text.lower().replace("_", " ")))
