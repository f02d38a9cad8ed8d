"""Small values near the limits of a schema, where it differs from one that is nearly the same."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.keywords import SAME_VALUE, SCHEMA_LISTS, SCHEMA_MAPS
from gateway.contract.schemas.samples import Schemas
from gateway.contract.values.schema import PREFIX

Schema = dict[str, Any]

_OTHER_TYPES: Final[tuple[Any, ...]] = (None, "1", 1, True, False, 1.5, "true", "", 0, [], {})
_FOREIGN: Final = ("x", "X", "-", "é", " ", "1")
"""Characters that a pattern may not allow."""
_MAX_LENGTH: Final = 20_000
"""Characters or items of a probe."""
_MAX_EDITED: Final = 24
"""Characters of a text of which each is replaced."""
_DEPTH: Final = 4
"""How many levels of combinations are looked into."""
_SAMPLES: Final = 3
UNKNOWN: Final = "no_such_member"
_NO_SAMPLE: Final = object()


class Probes:
    """The probes of the schemas of one document."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._schemas = Schemas(definitions)
        self._sampled: dict[tuple[str, int], Any] = {}

    def sample(self, schema: Any, number: int = 0) -> Any:
        """A valid value with few members. Raises `NoSample`."""
        key = key_of(schema), number
        if key not in self._sampled:
            self._sampled[key] = self._sample(schema, number)
        if self._sampled[key] is _NO_SAMPLE:
            raise NoSample("no valid value was found")
        return self._sampled[key]

    def full(self, schema: Any) -> Any:
        """A valid value with its optional members. Raises `NoSample`."""
        return self._schemas.samples(schema).sample("probe", "full")

    def _sample(self, schema: Any, number: int) -> Any:
        try:
            return self._schemas.samples(schema).sample("probe", str(number), is_short=True)
        except NoSample:
            return _NO_SAMPLE

    def of(self, schema: Any, given: Sequence[Any] = ()) -> Iterator[Any]:
        """The probes of `schema`, simple ones first. Some are equal, and some have no meaning.

        `given`: values that are more readable than made ones.
        """
        yield from _OTHER_TYPES
        parts = [*self._parts(schema, _DEPTH)]
        bases = [*given, *self._bases([schema, *parts])]
        yield from bases
        for part in parts:
            for kind, probe in _KINDS:
                near = [each for each in bases if isinstance(each, kind)]
                yield from probe(self, part, near)

    def _parts(self, schema: Any, depth: int) -> Iterator[Schema]:
        """`schema` and the schemas of the same value in it."""
        if not isinstance(schema, dict) or not depth:
            return
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            yield from self._parts(self._definitions.get(reference.removeprefix(PREFIX)), depth - 1)
        for keyword in schema.keys() & SAME_VALUE:
            value = schema[keyword]
            listed = keyword in SCHEMA_LISTS
            inner = value if listed else value.values() if keyword in SCHEMA_MAPS else [value]
            for each in inner:
                yield from self._parts(each, depth - 1)

    def _bases(self, schemas: list[Any]) -> Iterator[Any]:
        for schema in schemas:
            yield from _listed(schema)
            for number in range(_SAMPLES):
                with suppress(NoSample):
                    yield self.sample(schema, number)

    def numbers(self, part: Schema, near: list[Any]) -> Iterator[Any]:
        step = part.get("multipleOf", 1)
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if keyword in part:
                bound = part[keyword]
                yield from (bound, bound - step, bound + step, bound - 0.5, bound + 0.5)
        for each in near:
            if not isinstance(each, bool):
                yield from (str(each), each + 0.5, each + step, each * 2, -each)

    def texts(self, part: Schema, near: list[Any]) -> Iterator[Any]:
        for each in near:
            yield from _edited_text(each)
        for keyword in ("minLength", "maxLength"):
            for length in _around(part.get(keyword)):
                yield from (_of_length(each, length) for each in [*near[:4], "a"])

    def lists(self, part: Schema, near: list[Any]) -> Iterator[Any]:
        item = part.get("items", True)
        items = [*self._some(item)]
        for other in near:
            yield from (other[:-1], [*other, *other[-1:]], [*other, None], [*other, *items[:1]])
            yield from ([*other[:index], None, *other[index + 1 :]] for index in range(len(other)))
        yield from ([each, each] for each in items)
        counts = [_around(part.get(keyword)) for keyword in ("minItems", "maxItems")]
        for length in (each for some in counts for each in some):
            if items:
                yield _distinct(items, length)
            if "uniqueItems" in part:
                yield from self._some({**part, "minItems": length, "maxItems": length})
        yield from self._containing(part, items, near)

    def _containing(self, part: Schema, items: list[Any], near: list[Any]) -> Iterator[Any]:
        if "contains" not in part:
            return
        held = [*self._some(part["contains"])]
        other = [*self._some({"allOf": [part.get("items", True), {"not": part["contains"]}]})]
        yield from ([each] for each in (*other, *items, *near))
        for length in (*_around(part.get("minContains", 1)), *_around(part.get("maxContains"))):
            if held:
                yield _distinct(held, length)
                yield [*_distinct(held, length), *other[:1]]

    def objects(self, part: Schema, near: list[Any]) -> Iterator[Any]:
        for each in near:
            for name in each:
                yield {other: value for other, value in each.items() if other != name}
            yield {**each, UNKNOWN: 1}
            for name, schema in part.get("properties", {}).items():
                yield from ({**each, name: value} for value in (*self._some(schema), None, "", 1))
            yield from self._named(part, each)
            yield from self._counted(part, each)

    def _named(self, part: Schema, near: Schema) -> Iterator[Any]:
        for pattern, schema in part.get("patternProperties", {}).items():
            for name in self._some({"type": "string", "pattern": pattern}):
                values = (*self._some(schema), None, "", 1)
                yield from ({**near, name: value} for value in values)
        if "propertyNames" in part:
            whole = {"allOf": [{"type": "string"}, part["propertyNames"]]}
            filler = [*self._some(part.get("additionalProperties", True)), 1][0]
            for name in self.of(whole):
                if isinstance(name, str):
                    yield {**near, name: filler}
        others = self._some(part.get("additionalProperties", True))
        yield from ({**near, UNKNOWN: value} for value in (*others, None, ""))

    def _counted(self, part: Schema, near: Schema) -> Iterator[Any]:
        (filler,) = [*self._some(part.get("additionalProperties", True))][:1] or [1]
        for keyword in ("minProperties", "maxProperties"):
            for count in _around(part.get(keyword)):
                names = [*near, *(f"member_{number}" for number in range(count))][:count]
                yield {name: near.get(name, filler) for name in names}

    def _some(self, schema: Any) -> Iterator[Any]:
        for number in range(_SAMPLES):
            with suppress(NoSample):
                yield self.sample(schema, number)


_KINDS: Final[tuple[tuple[Any, Callable[[Probes, Schema, list[Any]], Iterator[Any]]], ...]] = (
    ((int, float), Probes.numbers),
    (str, Probes.texts),
    (list, Probes.lists),
    (dict, Probes.objects),
)


def _listed(schema: Any) -> Iterator[Any]:
    if isinstance(schema, dict):
        yield from schema.get("enum", ())
        yield from (schema["const"],) if "const" in schema else ()


def _around(limit: Any) -> tuple[int, ...]:
    if not isinstance(limit, int | float) or not 0 <= limit <= _MAX_LENGTH:
        return ()
    return tuple(each for each in (int(limit), int(limit) - 1, int(limit) + 1) if each >= 0)


def _of_length(text: str, length: int) -> str:
    return (text or "a")[:length].ljust(length, (text or "a")[-1])


def _edited_text(text: str) -> Iterator[str]:
    """`text` with one character less, more, or another one."""
    yield from (text[:-1], text[1:], text.lower(), text.upper(), text.swapcase())
    for character in _FOREIGN:
        yield from (text + character, character + text)
    yield from (text + text[-1:], text[:1] + text, f"{text}\n")
    for index in range(min(len(text), _MAX_EDITED)):
        before, after = text[:index], text[index + 1 :]
        yield from (before + each + after for each in (text[index].swapcase(), "", *_FOREIGN))
        yield before + text[index] * 2 + after


def _distinct(items: list[Any], length: int) -> list[Any]:
    """So many items, different ones where that is easy."""
    found = items[:length]
    last = items[-1]
    for number in range(length - len(found)):
        is_number = isinstance(last, int | float) and not isinstance(last, bool)
        found.append(last + number + 1 if is_number else last)
    return found


def key_of(value: Any) -> str:
    """A text that is the same for equal values only, types included."""
    return _encoded(value)


_encoded: Final = json.JSONEncoder(sort_keys=True).encode
