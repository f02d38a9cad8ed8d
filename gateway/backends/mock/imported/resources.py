"""Answers the operations on collections, and keeps what callers created."""

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
from gateway.backends.mock.imported.things import Thing, Things, ThingSchemas
from gateway.backends.mock.requests import RequestRefused
from gateway.backends.mock.samples.answers import Samples, overlaid
from gateway.backends.mock.samples.shapes import Place
from gateway.backends.mock.state import StoredState
from gateway.contract.imported import ImportedOperation
from gateway.contract.mock import MockRefusal
from gateway.contract.values.pointers import pointer_of

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
