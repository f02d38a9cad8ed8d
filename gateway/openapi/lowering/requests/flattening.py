"""Whether the members of a body can stand beside the parameters in one flat object."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.openapi.reading.schemas import Schema, SchemaLowering

_TITLES: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "title", "type"}
)
_SHAPE: Final = frozenset({"$ref", "additionalProperties", "allOf", "properties", "required"})
_MAX_DEPTH: Final = 20


class FlatMembers(Struct, frozen=True, kw_only=True):
    """The members of an object schema that has no other rules."""

    properties: Mapping[str, Schema]
    required: tuple[str, ...]


def flat_members(schemas: SchemaLowering, schema: Schema) -> FlatMembers | None:
    """The members of the lowered `schema`.

    None if it is not an object with named members alone: a union, a dictionary, or an object with
    rules for all members together, which would also apply to the parameters.
    """
    properties: dict[str, Schema] = {}
    required: list[str] = []
    schema = schemas.target(schema)
    if isinstance(schema, dict) and schema.get("unevaluatedProperties") is False:
        # The flat object is closed too.
        schema = {name: each for name, each in schema.items() if name != "unevaluatedProperties"}
    parts = list(_parts(schemas, schema, {}, _MAX_DEPTH))
    for part in parts:
        if part is None or not _is_plain(part, is_alone=len(parts) == 1):
            return None
        for name, member in part.get("properties", {}).items():
            known = properties.get(name, member)
            properties[name] = member if known == member else {"allOf": [known, member]}
        required += part.get("required", ())
    if not properties or not set(required) <= properties.keys():
        return None
    return FlatMembers(properties=properties, required=tuple(dict.fromkeys(required)))


def _parts(
    schemas: SchemaLowering, schema: Schema, joined: dict[str, bool], depth: int
) -> Iterator[Mapping[str, Any] | None]:
    """The objects that `schema` joins by `$ref` and allOf. None for a part that is no object.

    `joined`: the references so far, and whether all of each was joined. A second time adds nothing.
    """
    if isinstance(schema, bool) or depth == 0:
        yield None
        return
    reference = schema.get("$ref")
    if reference is not None and not joined.get(reference):
        if reference in joined:
            yield None  # it refers to itself
            return
        joined[reference] = False
        yield from _parts(schemas, schemas.target({"$ref": reference}), joined, depth - 1)
        joined[reference] = True
    for each in schema.get("allOf", ()):
        yield from _parts(schemas, each, joined, depth - 1)
    rest = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    if rest.keys() - _TITLES or not ("$ref" in schema or "allOf" in schema):
        yield rest


def _is_plain(part: Mapping[str, Any], *, is_alone: bool) -> bool:
    if part.keys() - _TITLES - _SHAPE or part.get("type", "object") != "object":
        return False
    if "additionalProperties" not in part:
        return True
    # A closed part of allOf also refuses the members of the other parts.
    return is_alone and part["additionalProperties"] is False
