"""Brings a JSON Schema to the form in which schemas are compared: only what validates, in order.

Texts, examples and extensions go. What no validator can run stays as text under `UNREAD`, so that
a change of it is never taken for none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from gateway.authoring.openapi.reading.dialect import BITS
from gateway.contract.schemas.dialects import NAMED
from gateway.contract.schemas.keywords import (
    ANNOTATIONS,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMA_VALUES,
)
from gateway.contract.values.schema import FORMATS, Validator, names_in

UNREAD: Final = "x-unread"
"""The keyword of what no validator can run. It is compared as text only."""

_encoder: Final = msgspec.json.Encoder(order="deterministic")


def encoded(value: Any) -> bytes:
    """`value` as text that is the same for equal values."""
    return _encoder.encode(value)


class WrittenDefinitions:
    """Definitions as text, by which those that both sides share are found fast."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._used: dict[str, frozenset[str]] = {}

    @staticmethod
    def of(definitions: Mapping[str, Any]) -> "WrittenDefinitions":
        """The texts of `definitions`: as they were written, if these are prepared when needed."""
        return (
            definitions.written
            if isinstance(definitions, Later)
            else WrittenDefinitions(definitions)
        )

    def text(self, name: str) -> bytes | None:
        """The text of a definition. None: there is none."""
        return encoded(self._schemas[name]) if name in self._schemas else None

    def uses(self, name: str) -> frozenset[str]:
        """The definitions that it refers to directly."""
        if name not in self._used:
            self._used[name] = frozenset(self._found_in(self._schemas[name]))
        return self._used[name]

    def _found_in(self, schema: Any) -> Iterable[str]:
        return names_in(schema)


class Later(Mapping[str, Any]):
    """Definitions that are prepared when they are first needed."""

    def __init__(
        self, names: Mapping[str, str], make: Callable[[str], Any], written: WrittenDefinitions
    ):
        self._names = names
        self._make = make
        self._made: dict[str, Any] = {}
        self.written = written

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(self._names[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


Change = Callable[[str, Any, str | int], Any]
"""Prepares a subschema of a keyword, at a name or an index."""

_IGNORED: Final = ANNOTATIONS | {
    *("$defs", "$schema", "$id", "$anchor", "definitions", "id", "example", "externalDocs", "xml"),
    *("contentEncoding", "contentMediaType", "contentSchema", "additionalItems"),
}
_SCALARS: Final = frozenset(
    [
        *("type", "enum", "const", "multipleOf", "required", "dependentRequired", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern", "format"),
        *("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"),
        *("minProperties", "maxProperties"),
    ]
)
_SCHEMAS: Final = SCHEMA_MAPS | SCHEMA_LISTS | SCHEMA_VALUES


def prepared(schema: Any, change: Change | None = None, *, is_evaluated: bool) -> Any:
    """`schema` in the form that is compared. `change` prepares what is inside.

    `is_evaluated`: a schema of its document says `unevaluated…`, so that it matters whether
    members and items that may be anything were named.
    """
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {UNREAD: {"schema": schema}}
    below = change or (lambda _keyword, value, _at: prepared(value, is_evaluated=is_evaluated))
    found: dict[str, Any] = {}
    unread: dict[str, Any] = dict(schema.get(UNREAD, {}))
    for keyword, value in schema.items():
        if keyword in _IGNORED or (keyword.startswith("x-") and keyword != NAMED):
            continue
        if keyword in _SCHEMAS and _has_form(keyword, value):
            found[keyword] = _changed(keyword, value, below)
        elif keyword == NAMED or _is_kept(keyword, value):
            found[keyword] = value
        elif _is_read(keyword):
            unread[keyword] = value
    if unread:
        found[UNREAD] = unread
    _sort(found)
    shortened(found, is_evaluated=is_evaluated)
    _bound(found, schema.get("format"))
    return _referring(found)


def _is_kept(keyword: str, value: Any) -> bool:
    return keyword == "$ref" or (keyword in _SCALARS and _can_run(keyword, encoded(value)))


def _is_read(keyword: str) -> bool:
    """Whether a value that no validator takes has a meaning. Unknown formats have none."""
    return keyword != "format" and (keyword in _SCALARS | _SCHEMAS or keyword.startswith("$"))


def _has_form(keyword: str, value: Any) -> bool:
    if keyword in SCHEMA_MAPS:
        return isinstance(value, dict)
    if keyword in SCHEMA_LISTS:
        return isinstance(value, list) and bool(value)
    return isinstance(value, dict | bool)


def _changed(keyword: str, value: Any, below: Change) -> Any:
    if keyword in SCHEMA_MAPS:
        return {name: below(keyword, each, name) for name, each in value.items()}
    if keyword in SCHEMA_LISTS:
        return [below(keyword, each, at) for at, each in enumerate(value)]
    return below(keyword, value, "")


@lru_cache(maxsize=20_000)
def _can_run(keyword: str, text: bytes) -> bool:
    """Whether the validator takes the keyword with this value."""
    value = msgspec.json.decode(text)
    if keyword == "format":
        return isinstance(value, str) and value in FORMATS
    try:
        Validator({keyword: value})
    except ValueError:
        return False
    return True


def _sort(found: dict[str, Any]) -> None:
    """Sort what has no order."""
    for keyword in ("required", "type"):
        if isinstance(found.get(keyword), list):
            found[keyword] = sorted(set(found[keyword]))
    if isinstance(found.get("type"), list) and len(found["type"]) == 1:
        found["type"] = found["type"][0]
    if "enum" in found:
        values = {encoded(value): value for value in found["enum"]}
        found["enum"] = [values[text] for text in sorted(values)]


_SAYS_NOTHING: Final[Mapping[str, tuple[Any, ...]]] = {
    "additionalProperties": (True, {}),
    "uniqueItems": (False,),
    "required": ([],),
    "items": (True, {}),
    **dict.fromkeys(("minItems", "minLength", "minProperties"), (0,)),
    **dict.fromkeys(("properties", "patternProperties"), ({},)),
    **dict.fromkeys(("dependentRequired", "dependentSchemas"), ({},)),
}

_EVALUATING: Final = frozenset({"additionalProperties", "items"})


def shortened(found: dict[str, Any], *, is_evaluated: bool) -> dict[str, Any]:
    """`found` itself, without what says nothing. `is_evaluated` is as in `prepared`."""
    for keyword, values in _SAYS_NOTHING.items():
        if keyword in found and found[keyword] in values:
            if is_evaluated and keyword in _EVALUATING:
                found[keyword] = True
            else:
                del found[keyword]
    return found


def evaluates(text: bytes) -> bool:
    """Whether a schema in this text says `unevaluatedProperties` or `unevaluatedItems`."""
    return b"unevaluated" in text


def _bound(found: dict[str, Any], form: Any) -> None:
    """The bounds of `format: int32` and `int64` (OpenAPI Format Registry)."""
    types = found.get("type")
    bits = BITS.get(form) if isinstance(form, str) else None
    if bits is None or "integer" not in (types if isinstance(types, list) else [types]):
        return
    most = 2 ** (bits - 1) - 1
    found["minimum"] = max(found.get("minimum", -most - 1), -most - 1)
    found["maximum"] = min(found.get("maximum", most), most)


def _referring(found: dict[str, Any]) -> dict[str, Any]:
    """`found`, with a reference beside other keywords as a part of its own."""
    if "$ref" not in found or len(found) == 1:
        return found
    rest: Mapping[str, Any] = {name: each for name, each in found.items() if name != "$ref"}
    return {**rest, "allOf": [{"$ref": found["$ref"]}, *rest.get("allOf", [])]}
