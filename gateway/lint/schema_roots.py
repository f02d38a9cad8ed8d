"""Finds the schemas in contract files."""

from collections.abc import Iterator
from typing import Any

from gateway.contract.values.pointers import child
from gateway.contracts.sources import keywords
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.tree import UPSTREAMS


def schema_roots(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """The outermost schema objects of a file, each with its pointer, in file order."""
    if document.path.suffix == ".json":
        if isinstance(document.value, dict):
            yield "", document.value
    elif document.path.parts[0] == UPSTREAMS:
        yield from _openapi_schemas(document.value, "", is_map=False)


def _openapi_schemas(
    value: Any, pointer: str, *, is_map: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas of an OpenAPI value: those under `schema` and in `components.schemas`."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _openapi_schemas(item, child(pointer, index), is_map=False)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _member_schemas(name, member, child(pointer, name), is_map=is_map)


def _member_schemas(
    name: str, value: Any, pointer: str, *, is_map: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas of one member. In a map, such as `responses`, `name` is never a keyword."""
    if is_map:
        yield from _openapi_schemas(value, pointer, is_map=False)
    elif name == "schema" and isinstance(value, dict):
        yield pointer, value
    elif pointer == "/components/schemas" and isinstance(value, dict):
        yield from _named_schemas(value, pointer)
    elif name not in keywords.DATA:
        yield from _openapi_schemas(value, pointer, is_map=name in keywords.NAME_MAPS)


def _named_schemas(schemas: dict[str, Any], pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in schemas.items():
        if isinstance(schema, dict):
            yield child(pointer, name), schema
