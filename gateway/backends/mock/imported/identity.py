"""Finds the collections of things in a document: `/things` with items `/things/{id}`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from gateway.backends.mock.imported.replies import success_of
from gateway.backends.mock.samples.shapes import Place, SchemaShapes
from gateway.contract.imported import ImportedOperation
from gateway.contract.values.pointers import steps

Kind: TypeAlias = Literal["create", "list", "read", "replace", "update", "delete"]
_LAST: Final = re.compile(r"(.*)/\{([^{}/]+)\}/?")
"""A path whose last segment is a parameter."""
_ON_ITEM: Final[Mapping[str, Kind]] = {
    "GET": "read",
    "PUT": "replace",
    "PATCH": "update",
    "POST": "update",
    "DELETE": "delete",
}
_ON_COLLECTION: Final[Mapping[str, Kind]] = {"POST": "create", "GET": "list"}
_USUAL: Final = ("id", "name")
_MAX_PLACES: Final = 200
_SCALARS: Final = frozenset({"string", "integer", "number"})


class Collection(Struct, frozen=True, kw_only=True):
    """Things of one kind, each of which has a path of its own."""

    template: str
    """The path template of the collection, which names its rows."""
    parameter: str
    """The parameter of an item's path."""
    identity: str
    """The property of a thing that has the value of the parameter."""
    thing: Any
    """The schema of a thing, as it is read."""
    key: Any
    """The schema of the identity."""
    is_filled: bool
    """Whether callers can create things. If not, a thing exists for every identity."""


class Role(Struct, frozen=True, kw_only=True):
    """What an operation does with a collection."""

    kind: Kind
    collection: Collection
    place: Place | None
    """Where the thing or the list is in the reply. None: it is not in the reply."""


def roles_of(operations: Iterable[ImportedOperation], shapes: SchemaShapes) -> dict[str, Role]:
    """The roles of the operations that have one, by operation id."""
    by_path: dict[str, list[ImportedOperation]] = {}
    for each in operations:
        by_path.setdefault(each.path.rstrip("/"), []).append(each)
    found: dict[str, Role] = {}
    for path, on_item in by_path.items():
        match = _LAST.fullmatch(path)
        if match is not None:
            around = by_path.get(match[1], [])
            collection = _collection(match[1], match[2], on_item, around, shapes)
            if collection is not None:
                found |= dict(_roles(collection, on_item, around, shapes))
    return found


def _collection(
    template: str,
    parameter: str,
    on_item: list[ImportedOperation],
    around: list[ImportedOperation],
    shapes: SchemaShapes,
) -> Collection | None:
    """The collection, if a reply shows a thing with the identity of its path."""
    methods = {each.method: each for each in around}
    linked = _linked(parameter, on_item, around)
    sources = [each for method in _ON_ITEM for each in on_item if each.method == method]
    if "POST" in methods:
        sources.append(methods["POST"])
    for each in sources:
        whole = _schema(each)
        for place in _places(whole, shapes):
            thing = shapes.at(whole, place)
            properties = shapes.properties(thing)
            sent = _types_of(parameter, on_item, shapes)
            identity = linked if linked in properties and not place else None
            identity = identity or _identity(parameter, sent, properties, shapes)
            if identity is not None:
                return Collection(
                    template=template,
                    parameter=parameter,
                    identity=identity,
                    thing=thing,
                    key=properties[identity],
                    is_filled="POST" in methods or any(each.method == "PUT" for each in on_item),
                )
    return None


def _linked(
    parameter: str, on_item: list[ImportedOperation], around: list[ImportedOperation]
) -> str | None:
    """The member of a reply that a link passes on as the parameter of an item's path."""
    members = {
        (each.id, sent.member)
        for each in on_item
        for sent in each.parameters
        if (sent.location, sent.name) == ("path", parameter)
    }
    for operation in (*around, *on_item):
        for link in operation.links:
            for each in link.inputs:
                if (link.target, each.member) in members and len(each.parts) == 1:
                    (part,) = each.parts
                    name = steps(part.pointer)
                    if part.source == "result" and len(name) == 1:
                        return name[0]
    return None


def _schema(operation: ImportedOperation) -> Any:
    """The schema of the JSON body of a success, or None."""
    reply = success_of(operation).reply
    return reply.schema if reply.kind == "json" else None


def _places(schema: Any, shapes: SchemaShapes) -> Iterator[Place]:
    """Where a thing may be: the whole value, or the only object in it."""
    yield ()
    properties = shapes.properties(schema)
    objects = [name for name, each in properties.items() if shapes.properties(each)]
    if len(objects) == 1:
        yield (objects[0],)


def _identity(
    parameter: str, sent: frozenset[str], properties: Mapping[str, Any], shapes: SchemaShapes
) -> str | None:
    """The property with the value of the parameter, whose types are `sent`.

    It has the name of the parameter, or the end of it (`issue_number`, `number`), or is `id` or
    `name`.
    """
    wanted = _plain(parameter)
    usable = [name for name, schema in properties.items() if _may_hold(shapes.types(schema), sent)]
    exact = [name for name in usable if _plain(name) == wanted]
    ending = [name for name in usable if _plain(name) and wanted.endswith(_plain(name))]
    # For an integer, `id` is better than a text, such as `key_id` for `gpg_key_id`.
    ending.sort(key=lambda name: (shapes.types(properties[name]).isdisjoint(sent), -len(name)))
    usual = [name for name in _USUAL if name in usable]
    return next(iter([*exact, *ending, *usual]), None)


def _may_hold(types: frozenset[str], sent: frozenset[str]) -> bool:
    """Whether a property with these types may hold the value of a parameter."""
    values = types - {"null"}
    if not values <= _SCALARS or (types and not values):
        return False
    is_number = not sent or not sent.isdisjoint({"integer", "number"})
    return not values or "string" in values or is_number


def _types_of(
    parameter: str, on_item: Iterable[ImportedOperation], shapes: SchemaShapes
) -> frozenset[str]:
    """The types of a path parameter, none if they are not declared."""
    for operation in on_item:
        inputs = shapes.properties(operation.input_schema)
        for each in operation.parameters:
            if each.location == "path" and each.name == parameter:
                return shapes.types(inputs.get(each.member, True))
    return frozenset()


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _roles(
    collection: Collection,
    on_item: list[ImportedOperation],
    around: list[ImportedOperation],
    shapes: SchemaShapes,
) -> Iterator[tuple[str, Role]]:
    for each in on_item:
        kind = _ON_ITEM.get(each.method)
        if kind is not None:
            place = _place_of_thing(collection, _schema(each), shapes)
            yield each.id, Role(kind=kind, collection=collection, place=place)
    for each in around:
        kind = _ON_COLLECTION.get(each.method)
        if kind == "create":
            place = _place_of_thing(collection, _schema(each), shapes)
            yield each.id, Role(kind=kind, collection=collection, place=place)
        elif kind == "list":
            place = _place_of_list(collection, _schema(each), shapes)
            if place is not None:
                yield each.id, Role(kind=kind, collection=collection, place=place)


def _place_of_thing(collection: Collection, schema: Any, shapes: SchemaShapes) -> Place | None:
    for place in _places(schema, shapes):
        if collection.identity in shapes.properties(shapes.at(schema, place)):
            return place
    return None


def _place_of_list(collection: Collection, schema: Any, shapes: SchemaShapes) -> Place | None:
    """The array whose items have the identity: the whole value, a member, or a member's member."""
    level: list[Place] = [()]
    for _ in range(3):
        for place in level:
            items = shapes.items(shapes.at(schema, place))
            if items is not None and collection.identity in shapes.properties(items):
                return place
        below = ((*p, name) for p in level for name in shapes.properties(shapes.at(schema, p)))
        level = list(islice(below, _MAX_PLACES))
    return None
