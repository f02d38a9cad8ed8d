"""The things of collections: those that callers made, and those that always existed."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.backends.mock.imported.identity import Collection
from gateway.backends.mock.imported.schemas import Schemas
from gateway.backends.mock.samples.answers import overlaid
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.state import StoredState
from gateway.contract.values import jsontext
from gateway.contract.values.formats import ANNOTATED

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
