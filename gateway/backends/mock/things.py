"""The things of an imported document: collections `/things` with items `/things/{id}`.

Finds them in the document, answers the operations on them, and keeps what callers created.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from gateway.backends.mock.replies import (
    DeclaredReply,
    is_declared_new,
    reply_of,
    success_of,
)
from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.state import StoredState
from gateway.contract.imported import ImportedOperation
from gateway.contract.mock import MockRefusal, MockRequest
from gateway.contract.schemas.flattening import Flattener, NoSample, Place
from gateway.contract.schemas.samples import Samples, Schemas, merged, overlaid
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import pointer_of, steps
from gateway.contract.values.schema import ANNOTATED

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


def roles_of(operations: Iterable[ImportedOperation], schemas: Flattener) -> dict[str, Role]:
    """The roles of the operations that have one, by operation id."""
    by_path: dict[str, list[ImportedOperation]] = {}
    for each in operations:
        by_path.setdefault(each.path.rstrip("/"), []).append(each)
    found: dict[str, Role] = {}
    for path, on_item in by_path.items():
        match = _LAST.fullmatch(path)
        if match is not None:
            around = by_path.get(match[1], [])
            collection = _collection(match[1], match[2], on_item, around, schemas)
            if collection is not None:
                found |= dict(_roles(collection, on_item, around, schemas))
    return found


def _collection(
    template: str,
    parameter: str,
    on_item: list[ImportedOperation],
    around: list[ImportedOperation],
    schemas: Flattener,
) -> Collection | None:
    """The collection, if a reply shows a thing with the identity of its path."""
    methods = {each.method: each for each in around}
    linked = _linked(parameter, on_item, around)
    sources = [each for method in _ON_ITEM for each in on_item if each.method == method]
    if "POST" in methods:
        sources.append(methods["POST"])
    for each in sources:
        whole = _schema(each)
        for place in _places(whole, schemas):
            thing = schemas.at(whole, place)
            properties = schemas.properties(thing)
            sent = _types_of(parameter, on_item, schemas)
            identity = linked if linked in properties and not place else None
            identity = identity or _identity(parameter, sent, properties, schemas)
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


def _places(schema: Any, schemas: Flattener) -> Iterator[Place]:
    """Where a thing may be: the whole value, or the only object in it."""
    yield ()
    properties = schemas.properties(schema)
    objects = [name for name, each in properties.items() if schemas.properties(each)]
    if len(objects) == 1:
        yield (objects[0],)


def _identity(
    parameter: str, sent: frozenset[str], properties: Mapping[str, Any], schemas: Flattener
) -> str | None:
    """The property with the value of the parameter, whose types are `sent`.

    It has the name of the parameter, or the end of it (`issue_number`, `number`), or is `id` or
    `name`.
    """
    wanted = _plain(parameter)
    usable = [name for name, schema in properties.items() if _may_hold(schemas.types(schema), sent)]
    exact = [name for name in usable if _plain(name) == wanted]
    ending = [name for name in usable if _plain(name) and wanted.endswith(_plain(name))]
    # For an integer, `id` is better than a text, such as `key_id` for `gpg_key_id`.
    ending.sort(key=lambda name: (schemas.types(properties[name]).isdisjoint(sent), -len(name)))
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
    parameter: str, on_item: Iterable[ImportedOperation], schemas: Flattener
) -> frozenset[str]:
    """The types of a path parameter, none if they are not declared."""
    for operation in on_item:
        inputs = schemas.properties(operation.input_schema)
        for each in operation.parameters:
            if each.location == "path" and each.name == parameter:
                return schemas.types(inputs.get(each.member, True))
    return frozenset()


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _roles(
    collection: Collection,
    on_item: list[ImportedOperation],
    around: list[ImportedOperation],
    schemas: Flattener,
) -> Iterator[tuple[str, Role]]:
    kinds = [(each, _ON_ITEM.get(each.method)) for each in on_item]
    kinds += [(each, _ON_COLLECTION.get(each.method)) for each in around]
    for each, kind in kinds:
        place_of = _place_of_list if kind == "list" else _place_of_thing
        place = None if kind is None else place_of(collection, _schema(each), schemas)
        if kind is not None and (kind != "list" or place is not None):
            yield each.id, Role(kind=kind, collection=collection, place=place)


def _place_of_thing(collection: Collection, schema: Any, schemas: Flattener) -> Place | None:
    for place in _places(schema, schemas):
        if collection.identity in schemas.properties(schemas.at(schema, place)):
            return place
    return None


def _place_of_list(collection: Collection, schema: Any, schemas: Flattener) -> Place | None:
    """The array whose items have the identity: the whole value, a member, or a member's member."""
    level: list[Place] = [()]
    for _ in range(3):
        for place in level:
            items = schemas.items(schemas.at(schema, place))
            if items is not None and collection.identity in schemas.properties(items):
                return place
        below = ((*p, name) for p in level for name in schemas.properties(schemas.at(schema, p)))
        level = list(islice(below, _MAX_PLACES))
    return None


Thing = dict[str, Any]
_INITIAL: Final = 2
"""The things that every collection has at the beginning."""
_TRIES: Final = 50
_FIRST: Final = 1000
"""Whole numbers as identities of created things are larger."""
_MAX_LISTED: Final = 100
_TOKEN: Final = {"type": "string", "pattern": "^[a-z0-9]{12}$"}
_DISTINCT: Final = ("pattern", "format", ANNOTATED, "enum", "const")
"""Keywords that give an identity a form of its own."""


class Things:
    """The things of one collection, for one concrete path.

    A row is `{"thing": text}`, with JSON text, or with None after the thing was deleted.
    """

    def __init__(
        self, collection: Collection, around: str, schemas: Schemas, state: StoredState, seed: str
    ) -> None:
        """`around` is the concrete path of the collection."""
        self._collection = collection
        self._prefix = f"{around}/"
        self._state = state
        self._salt = (seed, collection.template, around)
        thing, key = collection.thing, collection.key
        if "null" in schemas.types(thing):
            thing = {"allOf": [thing, {"type": "object"}]}
        self._samples = schemas.samples(thing)
        self._keys = self._tokens = schemas.samples(key)
        types = schemas.types(key)
        self._is_number = not types.isdisjoint({"integer", "number"})
        if types <= {"string", "null"} and not schemas.uses(key, _DISTINCT):
            self._tokens = schemas.samples({"allOf": [key, _TOKEN]})

    def find(self, text: str, *, is_certain: bool = False) -> Thing | None:
        """The thing whose identity is written `text`, or None.

        With `is_certain`, a thing that was neither created nor deleted exists. Raises `NoSample`.
        """
        row = self._state.find(self._collection.template, self._prefix + text)
        if row is not None:
            return _thing(row)
        exists = is_certain or not self._collection.is_filled or text in self._initial()
        return self.imagined(self.key(text)) if exists else None

    def all(self) -> list[Thing]:
        """Every thing, those that callers made last. Raises `NoSample`."""
        rows = dict(self._state.rows(self._collection.template, self._prefix))
        initial = {self._prefix + text: key for text, key in self._initial().items()}
        found: list[Thing | None] = [
            self.imagined(key) for row_id, key in initial.items() if row_id not in rows
        ]
        found += map(_thing, [*rows.values()][-_MAX_LISTED:])
        return [each for each in found if each is not None]

    def made(self, key: Any, given: Any) -> Thing:
        """A thing with this identity and the given members, which is stored."""
        thing = self.changed(self.imagined(key), given if isinstance(given, dict) else {})
        self.put(key, thing)
        return thing

    def put(self, key: Any, thing: Thing) -> None:
        """Store a thing."""
        self._store(str(key), jsontext.encode(thing).decode())

    def remove(self, text: str) -> None:
        """Remember that the thing does not exist."""
        self._store(text, None)

    def _store(self, text: str, row: str | None) -> None:
        self._state.add(self._collection.template, self._prefix + text, {"thing": row})

    def key(self, text: str) -> Any:
        """The identity that is written `text` in a path."""
        is_whole = text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 16
        return int(text) if self._is_number and is_whole else text

    def new_key(self, given: Mapping[str, Any]) -> Any:
        """The identity that the caller gives to a new thing, or one that is not used.

        Raises `NoSample` if there is no other identity.
        """
        name = self._collection.identity
        if isinstance(given.get(name), str | int) and self._keys.admits(given[name]):
            return given[name]
        number = int(self._state.new_id(self._collection.template).rpartition("-")[2])
        for attempt in range(_TRIES):
            key = self._candidate(number % 10_000_000, str(attempt))
            if self.find(str(key)) is None:
                return key
        raise NoSample("every identity is used already")

    def _candidate(self, number: int, attempt: str) -> Any:
        if self._is_number and self._keys.admits(_FIRST + number) and attempt == "0":
            return _FIRST + number
        return self._made_key(str(number), attempt)

    def _made_key(self, *texts: str) -> Any:
        """An identity for these texts. Raises `NoSample`."""
        try:
            return self._tokens.sample(*self._salt, *texts, is_example=False)
        except NoSample:
            return self._keys.sample(*self._salt, *texts, is_example=False)

    def imagined(self, key: Any) -> Thing:
        """What the thing with this identity is if no caller made it. Raises `NoSample`."""
        sample = self._samples.sample(*self._salt, str(key))
        thing: Thing = {**sample, self._collection.identity: key}
        if not self._samples.admits(thing):
            raise NoSample("the identity is not valid")
        return thing

    def changed(self, thing: Thing, given: Mapping[str, Any]) -> Thing:
        """The thing with the given members, as far as it stays valid. It keeps its identity."""
        kept = self._collection.identity
        members = {name: value for name, value in given.items() if name != kept}
        return overlaid(thing, members, self._samples.admits)

    def patched(self, thing: Thing, changes: Mapping[str, Any]) -> Thing:
        """The thing after a merge patch (RFC 7396), as far as it stays valid.

        A member becomes null where its schema allows null. Otherwise null removes it.
        """
        given = {name: merged(thing.get(name), value) for name, value in changes.items()}
        found = self.changed(thing, given)
        for name, value in changes.items():
            rest = {key: each for key, each in found.items() if key != name}
            if value is None and found.get(name) is not None and self._samples.admits(rest):
                found = rest
        return found

    def is_created(self, text: str) -> bool:
        """Whether a caller made the thing, and it is still there."""
        row = self._state.find(self._collection.template, self._prefix + text)
        return row is not None and row["thing"] is not None

    def _initial(self) -> dict[str, Any]:
        """The identities of the things that always existed, by their text."""
        keys = [self._made_key(str(number)) for number in range(_INITIAL)]
        return {str(key): key for key in keys}


def _thing(row: Mapping[str, Any]) -> Thing | None:
    text = row["thing"]
    found: Thing | None = None if text is None else jsontext.decode(text.encode())
    return found


_LIMITS: Final = ("limit", "per_page", "page_size", "pageSize", "max_results", "maxResults")
_COUNTS: Final = ("total", "total_count", "totalCount", "count")


class Answer(Struct, frozen=True, kw_only=True):
    """A declared reply, with a value that its schema admits."""

    declared: DeclaredReply
    value: Any = None
    location: str | None = None
    """The path of a created thing."""


class Resources:
    """The collections of one document."""

    def __init__(self, schemas: Schemas, state: StoredState, seed: str) -> None:
        self._schemas = schemas
        self._state = state
        self._seed = seed

    def answer(self, operation: ImportedOperation, role: Role, asked: MockRequest) -> Answer:
        """The answer to an operation with a role.

        Raises `RequestRefused` for a thing that does not exist, and `NoSample`.
        """
        accept = asked.headers.get("accept", "")
        declared = success_of(operation, accept)
        if role.kind == "list":
            return self._list(declared, role, asked)
        if role.kind == "create":
            thing, location = self._created(operation, role, asked)
            return self._shown(declared, role, thing, location)
        things = self._things(role.collection, asked.target.rpartition("/")[0])
        text = asked.path[role.collection.parameter]
        if role.kind == "replace":
            if things.find(text) is None and is_declared_new(operation):
                declared = reply_of(operation, 201, accept) or declared
            thing = things.made(things.key(text), asked.body)
        else:
            thing = self._found(things, text, operation, role)
        if role.kind == "delete":
            things.remove(text)
        elif role.kind == "update" and isinstance(asked.body, dict):
            thing = things.patched(thing, asked.body)
            things.put(text, thing)
        return self._shown(declared, role, thing)

    def _things(self, collection: Collection, around: str) -> Things:
        return Things(collection, around, self._schemas, self._state, self._seed)

    def _created(
        self, operation: ImportedOperation, role: Role, asked: MockRequest
    ) -> tuple[Thing, str]:
        """A new thing, and its path."""
        things = self._things(role.collection, asked.target)
        key = things.new_key(asked.body if isinstance(asked.body, dict) else {})
        if things.is_created(str(key)) and reply_of(operation, 409) is not None:
            title = "A thing with this identity exists already."
            path = pointer_of([role.collection.identity])
            raise RequestRefused(MockRefusal(status=409, title=title, path=path))
        return things.made(key, asked.body), f"{asked.target}/{quote(str(key), safe='')}"

    def _found(self, things: Things, text: str, operation: ImportedOperation, role: Role) -> Thing:
        thing = things.find(text, is_certain=reply_of(operation, 404) is None)
        if thing is None:
            title = "Nothing exists with this identity."
            path = pointer_of(["path", role.collection.parameter])
            raise RequestRefused(MockRefusal(status=404, title=title, path=path))
        return thing

    def _list(self, declared: DeclaredReply, role: Role, asked: MockRequest) -> Answer:
        found = self._things(role.collection, asked.target).all()
        limits = [asked.query[name] for name in _LIMITS if asked.query.get(name, "").isdecimal()]
        shown = found[-int(limits[0]) :] if limits and int(limits[0]) > 0 else found
        place = role.place or ()
        schema = declared.reply.schema
        items = self._schemas.samples(self._schemas.items(self._schemas.at(schema, place)))
        fitted = [self._fitted(items, each, self._salt(role, declared, each)) for each in shown]
        return Answer(declared=declared, value=self._listing(declared, place, fitted, len(found)))

    def _listing(
        self, declared: DeclaredReply, place: Place, items: list[Thing], total: int
    ) -> Any:
        samples = self._schemas.samples(declared.reply.schema)
        value = samples.sample(self._seed, *place)
        listing = placed(value, place, items)
        if not samples.admits(listing):
            return value
        if not isinstance(listing, dict):
            return listing
        counts = {name: total for name in _COUNTS if name in listing and name not in place}
        return overlaid(listing, counts, samples.admits)

    def _shown(
        self,
        declared: DeclaredReply,
        role: Role,
        thing: Thing,
        location: str | None = None,
    ) -> Answer:
        """The reply with the thing in it, as far as its schema admits it."""
        samples = self._schemas.samples(declared.reply.schema)
        salt = self._salt(role, declared, thing)
        if declared.reply.kind != "json" or role.place is None:
            value = None if declared.reply.kind == "empty" else samples.sample(*salt)
        else:
            value = self._with_thing(samples, role.place, thing, salt)
        return Answer(declared=declared, value=value, location=location)

    def _with_thing(
        self, samples: Samples, place: Place, thing: Thing, salt: tuple[str, ...]
    ) -> Any:
        if not place:
            return self._fitted(samples, thing, salt)
        value = samples.sample(*salt)
        if samples.admits(placed(value, place, thing)):
            return placed(value, place, thing)
        inner = self._schemas.samples(self._schemas.at(samples.schema, place))
        fitted = placed(value, place, self._fitted(inner, thing, salt))
        return fitted if samples.admits(fitted) else value

    def _fitted(self, samples: Samples, thing: Thing, salt: tuple[str, ...]) -> Any:
        """The thing, or a sample with as many of its members as the schema admits."""
        if samples.admits(thing):
            return thing
        sample = samples.sample(*salt)
        return overlaid(sample, thing, samples.admits) if isinstance(sample, dict) else sample

    def _salt(self, role: Role, declared: DeclaredReply, thing: Thing) -> tuple[str, ...]:
        key = str(thing.get(role.collection.identity))
        return (self._seed, role.collection.template, str(declared.status), key)


def placed(value: Any, place: Place, part: Any) -> Any:
    """`value` with `part` at `place`. Missing objects around it are made."""
    if not place:
        return part
    around = value if isinstance(value, dict) else {}
    return {**around, place[0]: placed(around.get(place[0]), place[1:], part)}
