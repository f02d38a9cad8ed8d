"""Checks of entities: their columns, keys and filters."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.rows.entity import TIMES
from gateway.contract.schemas.algebra import covers, kinds
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound

_UUID: Final = {"type": "string", "format": "uuid"}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_STANDARD: Final = {
    "id": _UUID,
    "webhook_id": _UUID,
    "occurred_at": _MOMENT,
    "created_at": _MOMENT,
    "updated_at": _MOMENT,
}
_KEYS: Final = frozenset({"string", "integer"})
_SCALARS: Final = _KEYS | {"number", "boolean"}


def check_types(draft: Draft) -> Iterator[Finding]:
    """entity/column"""
    for document in draft.entities.values():
        for name in document.value["properties"]:
            pointer = child("/properties", name)
            schema = draft.expanded(document.path, pointer)
            if isinstance(schema, dict) and "type" not in schema:
                message = f"the column {name} has no type"
                yield draft.finding("entity/column", document, pointer, message)


def check_columns(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/standard-column, entity/column, entity/required-column"""
    for document in _sound(draft, unsound):
        for name in document.value["properties"]:
            schema = draft.expanded(document.path, child("/properties", name))
            yield from _column(draft, document, name, schema)


def _column(
    draft: Draft, document: Document, name: str, schema: dict[str, Any]
) -> Iterator[Finding]:
    pointer, facts = child("/properties", name), document.value
    is_required = name in facts["required"]
    found = kinds(schema)
    if name in _STANDARD:
        is_standard = is_required and schema.get("readOnly") is True
        if not is_standard or covers(_STANDARD[name], schema) is not True:
            message = f"{name} differs from the standard column of this name"
            yield draft.finding("entity/standard-column", document, pointer, message)
        return
    if name == TIMES:
        message = f"the name {name} is reserved for an internal column of the gateway"
        yield draft.finding("entity/column", document, pointer, message)
        return
    is_key = name in facts["x-entity"]["key"]
    is_log = name == facts["x-entity"].get("states", {}).get("log")
    if is_required and not is_key:
        message = f"{name} is required, but not a column of the key"
        yield draft.finding("entity/required-column", document, pointer, message)
    is_filled = schema.get("readOnly") is True and not is_log
    if len(_types(found)) != 1 or is_filled or ("null" not in found and not is_key):
        message = f"{name} is not a nullable column of one type"
        yield draft.finding("entity/column", document, pointer, message)


def _types(found: frozenset[str]) -> frozenset[str]:
    """The types without null. A number counts as one type, although it may be an integer."""
    return found - {"null"} - ({"integer"} if "number" in found else frozenset())


def check_keys(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/key, entity/filter"""
    for document in _sound(draft, unsound):
        facts = document.value
        for index, name in enumerate(facts["x-entity"]["key"]):
            found = _kinds(draft, document, name)
            is_own = name in facts["required"] and name not in _STANDARD
            if not is_own or not found or not found <= _KEYS:
                message = f"{name} is not a required text or integer column of the entity"
                pointer = f"/x-entity/key/{index}"
                yield draft.finding("entity/key", document, pointer, message)
        for index, name in enumerate(facts["x-entity"]["filters"]):
            found = _types(_kinds(draft, document, name))
            if len(found) != 1 or not found <= _SCALARS:
                message = f"{name} is not a column of one scalar type"
                pointer = f"/x-entity/filters/{index}"
                yield draft.finding("entity/filter", document, pointer, message)


def _kinds(draft: Draft, document: Document, name: str) -> frozenset[str]:
    """The types of a column. Empty if there is no such column."""
    if name not in document.value["properties"]:
        return frozenset()
    return kinds(draft.expanded(document.path, child("/properties", name)))


def _sound(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Document]:
    yield from (each for each in draft.entities.values() if is_sound(draft, each.path, unsound))
