"""Answers the operations on collections, and keeps what callers created."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from gateway.backends.mock.imported.document_request import DocumentRequest
from gateway.backends.mock.imported.identity import Collection, Role
from gateway.backends.mock.imported.replies import (
    DeclaredReply,
    is_declared_new,
    reply_of,
    success_of,
)
from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.samples.answers import Samples, overlaid
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.samples.shapes import Place
from gateway.backends.mock.state import StoredState
from gateway.contract.imported import ImportedOperation
from gateway.contract.mock import MockRefusal
from gateway.contract.values import jsontext
from gateway.contract.values.formats import ANNOTATED
from gateway.contract.values.pointers import pointer_of

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


class ThingSchemas:
    """The compiled schemas of the things of one collection and of their identities."""

    def __init__(self, collection: Collection, schemas: Schemas) -> None:
        types = schemas.shapes.types(collection.key)
        is_nullable = "null" in schemas.shapes.types(collection.thing)
        thing = (
            {"allOf": [collection.thing, {"type": "object"}]} if is_nullable else collection.thing
        )
        self.things = schemas.samples(thing)
        self.keys = schemas.samples(collection.key)
        self.is_number = not types.isdisjoint({"integer", "number"})
        is_free = types <= {"string", "null"} and not schemas.shapes.uses(collection.key, _DISTINCT)
        token = {"allOf": [collection.key, _TOKEN]}
        self._tokens = schemas.samples(token) if is_free else self.keys

    def new_key(self, *texts: str) -> Any:
        """An identity for these texts. Raises `NoSample`."""
        try:
            return self._tokens.sample(*texts, is_example=False)
        except NoSample:
            return self.keys.sample(*texts, is_example=False)


class Things:
    """The things of one collection, for one concrete path.

    A row is `{"thing": text}`, with JSON text, or with None after the thing was deleted.
    """

    def __init__(
        self,
        collection: Collection,
        around: str,
        *,
        state: StoredState,
        seed: str,
        schemas: "ThingSchemas",
    ) -> None:
        """`around` is the concrete path of the collection. `samples` are of the things."""
        self._collection = collection
        self._prefix = f"{around}/"
        self._state = state
        self._salt = (seed, collection.template, around)
        self._schemas = schemas
        self._samples = schemas.things
        self._keys = schemas.keys

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
        return int(text) if self._schemas.is_number and is_whole else text

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
        if self._schemas.is_number and self._keys.admits(_FIRST + number) and attempt == "0":
            return _FIRST + number
        return self._schemas.new_key(*self._salt, str(number), attempt)

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
        found = self.changed(thing, _merged(thing, changes))
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
        keys = [self._schemas.new_key(*self._salt, str(number)) for number in range(_INITIAL)]
        return {str(key): key for key in keys}


def _thing(row: Mapping[str, Any]) -> Thing | None:
    text = row["thing"]
    found: Thing | None = None if text is None else jsontext.decode(text.encode())
    return found


def _merged(thing: Mapping[str, Any], changes: Mapping[str, Any]) -> Thing:
    """The members that change, each with those of its own members that stay."""
    found: Thing = {}
    for name, value in changes.items():
        before = thing.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            found[name] = {**before, **_merged(before, value)}
        else:
            found[name] = value
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
        self._compiled: dict[str, ThingSchemas] = {}

    def answer(self, operation: ImportedOperation, role: Role, asked: DocumentRequest) -> Answer:
        """The answer to an operation with a role.

        Raises `RequestRefused` for a thing that does not exist, and `NoSample`.
        """
        declared = success_of(operation, asked.accept)
        match role.kind:
            case "create":
                return self._create(operation, declared, role, asked)
            case "list":
                return self._list(declared, role, asked)
            case "replace":
                return self._replace(operation, declared, role, asked)
            case _:
                return self._on_item(operation, declared, role, asked)

    def _things(self, collection: Collection, around: str) -> Things:
        compiled = self._compiled.get(collection.template)
        if compiled is None:
            compiled = ThingSchemas(collection, self._schemas)
            self._compiled[collection.template] = compiled
        return Things(collection, around, state=self._state, seed=self._seed, schemas=compiled)

    def _create(
        self,
        operation: ImportedOperation,
        declared: DeclaredReply,
        role: Role,
        asked: DocumentRequest,
    ) -> Answer:
        things = self._things(role.collection, asked.path)
        given = asked.body if isinstance(asked.body, dict) else {}
        key = things.new_key(given)
        if things.is_created(str(key)) and reply_of(operation, 409) is not None:
            title = "A thing with this identity exists already."
            path = pointer_of([role.collection.identity])
            raise RequestRefused(MockRefusal(status=409, title=title, path=path))
        thing = things.changed(things.imagined(key), given)
        things.put(key, thing)
        return self._shown(
            declared, role, thing, location=f"{asked.path}/{quote(str(key), safe='')}"
        )

    def _list(self, declared: DeclaredReply, role: Role, asked: DocumentRequest) -> Answer:
        found = self._things(role.collection, asked.path).all()
        limits = [asked.query[name] for name in _LIMITS if asked.query.get(name, "").isdecimal()]
        shown = found[-int(limits[0]) :] if limits and int(limits[0]) > 0 else found
        place = role.place or ()
        schema = declared.reply.schema
        items = self._schemas.samples(
            self._schemas.shapes.items(self._schemas.shapes.at(schema, place))
        )
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

    def _replace(
        self,
        operation: ImportedOperation,
        declared: DeclaredReply,
        role: Role,
        asked: DocumentRequest,
    ) -> Answer:
        things = self._things(role.collection, _around(asked))
        text = _identity(role, asked)
        is_new = things.find(text) is None
        key = things.key(text)
        given = asked.body if isinstance(asked.body, dict) else {}
        thing = things.changed(things.imagined(key), given)
        things.put(key, thing)
        if is_new and is_declared_new(operation):
            declared = reply_of(operation, 201, asked.accept) or declared
        return self._shown(declared, role, thing)

    def _on_item(
        self,
        operation: ImportedOperation,
        declared: DeclaredReply,
        role: Role,
        asked: DocumentRequest,
    ) -> Answer:
        things = self._things(role.collection, _around(asked))
        text = _identity(role, asked)
        is_certain = reply_of(operation, 404) is None
        thing = things.find(text, is_certain=is_certain)
        if thing is None:
            title = "Nothing exists with this identity."
            path = pointer_of(["path", role.collection.parameter])
            raise RequestRefused(MockRefusal(status=404, title=title, path=path))
        if role.kind == "delete":
            things.remove(text)
        elif role.kind == "update" and isinstance(asked.body, dict):
            thing = things.patched(thing, asked.body)
            things.put(text, thing)
        return self._shown(declared, role, thing)

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
        inner = self._schemas.samples(self._schemas.shapes.at(samples.schema, place))
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


def _around(asked: DocumentRequest) -> str:
    """The path of the collection around an item."""
    return asked.path.rpartition("/")[0]


def _identity(role: Role, asked: DocumentRequest) -> str:
    return asked.parameters[role.collection.parameter]
