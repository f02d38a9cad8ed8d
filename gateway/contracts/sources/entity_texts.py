"""What the read tools of an entity say of themselves: their texts and their examples.

An entity may give the texts of its `list`. All others are made from its columns.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.fields.fieldmap import entity_id
from gateway.contracts.sources.document import Document

_LONGEST: Final = 1_500
"""Longer descriptions of entities are left out of those of their tools."""
_NEWEST: Final = {"summary": "The ten that changed last", "value": {"limit": 10}}
_FIRST: Final = {"summary": "The first page", "value": {}}
_NO_ROWS: Final[Mapping[str, Any]] = {"none": {"value": {"items": [], "next_cursor": None}}}
_MOMENT: Final = "2026-01-01T12:00:00Z"
_MESSAGE: Final = "00000000-0000-4000-8000-000000000001"


def texts_of(document: Document, which: str) -> Mapping[str, Any]:
    """What `x-entity.tools` says of the tool `which` besides its id."""
    declared = document.value["x-entity"]["tools"][which]
    return declared if isinstance(declared, dict) else {}


def title_of(document: Document, which: str, tool: str) -> str:
    """The title of the tool with the id `tool`."""
    title: str = texts_of(document, which).get("title") or _words(tool.split(".")[1]).capitalize()
    return title


def rows_of(document: Document) -> str:
    """What the texts of its `list` call the rows, in the plural."""
    rows: str = texts_of(document, "list").get("rows") or _words(document.path.stem)
    return rows


def description_of(document: Document, which: str) -> str:
    """What the tool does, and what its rows are."""
    if written := texts_of(document, which).get("description"):
        return str(written)
    kind, key = document.path.stem, " and ".join(document.value["x-entity"]["key"])
    does = f"Get the row of {kind} with this {key}."
    if which == "list":
        does = f"List the {rows_of(document)}, last changed first, in pages."
    about = str(document.value.get("description", "")).strip()
    if not about or len(about) > _LONGEST:
        return does
    return f"{does} {about.rstrip('.')}."


def filter_text(document: Document, name: str) -> str:
    """The description of the column `name` as an argument of the tool `list`."""
    if written := texts_of(document, "list").get("filters", {}).get(name):
        return str(written)
    does = f"Only {rows_of(document)} with this {_words(name)}."
    return f"{does} {document.value['properties'][name].get('description', '')}".strip()


def call_examples(document: Document, which: str) -> dict[str, Any]:
    """Two examples of arguments, by name."""
    if which == "get":
        pairs = (("one", "By its key"), ("other", "Another one"))
        return {
            name: {"summary": summary, "value": _key(document, index)}
            for index, (name, summary) in enumerate(pairs)
        }
    chosen = texts_of(document, "list").get("example") or _first_filter(document)
    if not chosen:
        return {"newest": _NEWEST, "first": _FIRST}
    return {"newest": _NEWEST, "some": {"summary": "With a filter", "value": chosen}}


def result_examples(document: Document, which: str) -> dict[str, Any]:
    """An example of a result, by name: a row with nothing but what every row has, or no rows."""
    if which == "list":
        return dict(_NO_ROWS)
    key = _key(document, 0)
    moments = dict.fromkeys(("occurred_at", "created_at", "updated_at"), _MOMENT)
    row = {"id": entity_id(document.path.stem, key), **key, "webhook_id": _MESSAGE, **moments}
    return {"found": {"value": {"item": row}}}


def examples_of_column(column: Mapping[str, Any]) -> list[Any]:
    """The examples that are no null."""
    return _given(column, "examples")


def _key(document: Document, index: int) -> dict[str, Any]:
    columns, names = document.value["properties"], document.value["x-entity"]["key"]
    return {each: examples_of_column(columns[each])[index] for each in names}


def _first_filter(document: Document) -> dict[str, Any]:
    """The first value of the first filter that says what values it has."""
    for name in document.value["x-entity"]["filters"]:
        column = document.value["properties"][name]
        for value in (_given(column, "examples") or _given(column, "enum"))[:1]:
            return {name: value}
    return {}


def _given(column: Mapping[str, Any], keyword: str) -> list[Any]:
    return [each for each in column.get(keyword, ()) if each is not None]


def _words(name: str) -> str:
    return name.replace("_", " ")
