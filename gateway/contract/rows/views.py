"""Tables of upstreams as agents see them, and the owners of their columns.

A table either has its own rows, which agents write, or shows the rows of an entity, which webhooks
write. `x-table` then names the kind. The rows exist once, in the gateway's store, and agents can
change only the columns that they own.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from gateway.contract.rows.entity import Entity
from gateway.contract.rows.rows import Shape, shape_of


def shapes_of(
    tables: Mapping[str, Mapping[str, Any]], entities: Mapping[str, Entity]
) -> dict[str, Shape]:
    """The shapes of an upstream's tables, by name. `entities` are the catalogue's, by kind."""
    return {name: _shape(name, schema, entities) for name, schema in tables.items()}


def _shape(table: str, schema: Mapping[str, Any], entities: Mapping[str, Entity]) -> Shape:
    shape, facts = shape_of(table, schema), schema.get("x-table", {})
    if "entity" not in facts:
        return shape
    entity = entities[facts["entity"]]
    sources = {name: facts.get("columns", {}).get(name, name) for name in shape.columns}
    owners = {name: entity.rules.owner(source) for name, source in sources.items()}
    return replace(shape, entity=entity.kind, sources=sources, owners=owners)
