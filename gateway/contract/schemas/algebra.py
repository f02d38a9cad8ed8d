"""Compares JSON Schemas as sets of values. Only this module uses the canonical schema algebra.

That part of jsonschema-rs is experimental, so only definite answers are used, and a witness is used
only if the validators of both schemas confirm it.
"""

from functools import lru_cache
from typing import Any, Final

import jsonschema_rs
import msgspec
from jsonschema_rs import CanonicalSchema
from jsonschema_rs.canonical import (
    CanonicalizationError,
    ConstView,
    Containment,
    EnumView,
    Satisfiability,
)

from gateway.contract.schemas.keywords import ANNOTATIONS, DATA, SCHEMA_MAPS
from gateway.contract.schemas.references import (
    SameSchemas,
    gathered,
    opened,
    written_out,
)
from gateway.contract.values.schema import OWN_FORMATS, Validator
from gateway.contract.values.violation import Violation

Schema = dict[str, Any]

_encoder: Final = msgspec.json.Encoder(order="deterministic")

TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_UNEVALUATED: Final = b'"unevaluated'
_IGNORED: Final = ANNOTATIONS | {"$schema"}


def covers(outer: Schema, inner: Schema) -> bool | None:
    """Whether every value of `inner` is valid under `outer`. None if that cannot be decided."""
    if "$defs" in inner and are_same(outer, inner):
        return True
    return _covers(_key(outer), _key(inner))


def is_empty(schema: Schema) -> bool:
    """Whether no value is valid under `schema`. False if that cannot be decided."""
    try:
        return _canonical(opened(schema)).satisfiability() == Satisfiability.NO
    except CanonicalizationError:
        return False


def kinds(schema: Schema) -> frozenset[str]:
    """The JSON types that values of `schema` may have. Integers are also numbers."""
    return _kinds(_key(opened(schema)))


def finite(schema: Schema) -> tuple[Any, ...] | None:
    """All values of `schema`, if it is a constant or an enumeration. Else None."""
    try:
        found = _canonical(opened(schema))
    except CanonicalizationError:
        return None
    match found.view():
        case ConstView(value=value):
            return (value,)
        case EnumView(values=values):
            return tuple(values)
        case _:
            return None


def admits(schema: Schema, value: Any) -> bool:
    """Whether `value` is valid under `schema`, by the validator that runs at run time."""
    return _validator(_key(schema)).admits(value)


def violations(schema: Schema, value: Any) -> list[Violation]:
    """The violations of `schema` by `value`. Empty if it is valid."""
    return list(_validator(_key(schema)).violations(value))


def both(*schemas: Schema) -> Schema:
    """The intersection of `schemas`."""
    wanted = [written_out(schema) for schema in schemas if schema]
    if len(wanted) < 2:
        return wanted[0] if wanted else {}
    parts, definitions = gathered(wanted)
    return {"allOf": parts, **definitions}


def either(*schemas: Schema) -> Schema:
    """The union of `schemas`."""
    if len(schemas) == 1:
        return schemas[0]
    parts, definitions = gathered([written_out(schema) for schema in schemas])
    return {"anyOf": parts, **definitions}


def without_null(schema: Schema) -> Schema:
    """`schema` without null."""
    schema = written_out(schema)
    if not admits(schema, None):
        return schema
    kind = schema.get("type")
    rest = [name for name in kind if name != "null"] if isinstance(kind, list) else []
    if rest and not schema.keys() & {"enum", "const"}:
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}
    return both(schema, {"not": {"type": "null"}})


def bare(schema: Any) -> Any:
    """`schema` without the keywords that validators ignore: annotations and extensions."""
    if isinstance(schema, list):
        return [bare(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: _bare_keyword(keyword, value)
        for keyword, value in schema.items()
        if keyword not in _IGNORED and not keyword.startswith("x-")
    }


def _bare_keyword(keyword: str, value: Any) -> Any:
    if keyword in DATA:
        return value
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        return {name: bare(part) for name, part in value.items()}
    return bare(value)


def are_same(one: Schema, other: Schema) -> bool:
    """Whether they are the same but for annotations and the names of definitions."""
    one, other = bare(written_out(one)), bare(written_out(other))
    return SameSchemas(one, other).are_equal(one, other)


def _key(schema: Schema) -> bytes:
    """The key of a schema in the caches. Each schema is used many times in one run."""
    return _encoder.encode(schema)


def _canonical(schema: Schema) -> CanonicalSchema:
    return _canonicalized(_key(schema))


@lru_cache(maxsize=4096)
def _kinds(key: bytes) -> frozenset[str]:
    schema: Schema = msgspec.json.decode(key)
    tried = _named_types(schema.get("type", TYPES))
    return frozenset(kind for kind in tried if not is_empty(both(schema, {"type": kind})))


def _named_types(named: str | list[str] | tuple[str, ...]) -> list[str]:
    """The types that values of the named types may have. Only those need to be tried."""
    names = {named} if isinstance(named, str) else set(named)
    numbers = {"integer", "number"}
    return [kind for kind in TYPES if kind in (names | numbers if names & numbers else names)]


@lru_cache(maxsize=4096)
def _covers(outer: bytes, inner: bytes) -> bool | None:
    try:
        answer = _canonicalized(outer).covers(_canonicalized(inner))
    except CanonicalizationError:
        return None
    return {Containment.YES: True, Containment.NO: False}.get(answer)


@lru_cache(maxsize=4096)
def _canonicalized(key: bytes) -> CanonicalSchema:
    if _UNEVALUATED in key:
        # In 0.60.3, it takes `unevaluatedProperties` beside an `if` for another set of values.
        raise CanonicalizationError("what is not evaluated is not compared")
    schema = msgspec.json.decode(key)
    return jsonschema_rs.canonicalize(
        _as_checked(schema) if b'email"' in key else schema,
        draft=jsonschema_rs.Draft202012,
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(),
        offline=True,
    )


def _as_checked(schema: Any) -> Any:
    """`schema` with addresses as the validator checks them: without a display name around them."""
    if isinstance(schema, list):
        return [_as_checked(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        keyword: given
        if keyword in DATA
        else {name: _as_checked(each) for name, each in given.items()}
        if keyword in SCHEMA_MAPS and isinstance(given, dict)
        else _as_checked(given)
        for keyword, given in schema.items()
    }
    if found.get("format") in OWN_FORMATS:
        found["allOf"] = [*found.get("allOf", ()), {"pattern": "[^>]$"}]
    return found


@lru_cache(maxsize=4096)
def _validator(key: bytes) -> Validator:
    return Validator(msgspec.json.decode(key))
