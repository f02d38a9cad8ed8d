"""Questions about sets of JSON values: the only place that uses the canonical schema algebra.

That part of jsonschema-rs is experimental, so an answer counts only where it is definite, and a
witness only after the two validators have checked it.
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

from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.contracts.sources.keywords import ANNOTATIONS, DATA, SCHEMA_MAPS

Schema = dict[str, Any]

_encoder: Final = msgspec.json.Encoder(order="deterministic")

TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_IGNORED: Final = ANNOTATIONS | {"$schema"}


def covers(outer: Schema, inner: Schema) -> bool | None:
    """Whether `outer` admits every value that `inner` does; None when that cannot be decided."""
    try:
        verdict = _canonical(outer).covers(_canonical(inner))
    except CanonicalizationError:
        return None
    return {Containment.YES: True, Containment.NO: False}.get(verdict)


def is_empty(schema: Schema) -> bool:
    """Whether it is certain that `schema` admits no value."""
    return _canonical(schema).satisfiability() == Satisfiability.NO


def kinds(schema: Schema) -> frozenset[str]:
    """The JSON types that values of `schema` may have; a number may be an integer."""
    return _kinds(_key(schema))


def finite(schema: Schema) -> tuple[Any, ...] | None:
    """All values of `schema`, when they are listed."""
    match _canonical(schema).view():
        case ConstView(value=value):
            return (value,)
        case EnumView(values=values):
            return tuple(values)
        case _:
            return None


def admits(schema: Schema, value: Any) -> bool:
    """Whether `schema` admits `value`, as the validator checks it at run time."""
    return _validator(_key(schema)).admits(value)


def violations(schema: Schema, value: Any) -> list[Violation]:
    """Where `value` breaks `schema`; empty where it is admitted."""
    return list(_validator(_key(schema)).violations(value))


def both(*schemas: Schema) -> Schema:
    """The values that all `schemas` admit."""
    wanted = [schema for schema in schemas if schema]
    return wanted[0] if len(wanted) == 1 else {"allOf": wanted} if wanted else {}


def either(*schemas: Schema) -> Schema:
    """The values that one of `schemas` admits at least."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}


def without_null(schema: Schema) -> Schema:
    """The values of `schema` other than null."""
    if not admits(schema, None):
        return schema
    kind = schema.get("type")
    if isinstance(kind, list) and "null" in kind and not schema.keys() & {"enum", "const"}:
        rest = [name for name in kind if name != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}
    return both(schema, {"not": {"type": "null"}})


def bare(schema: Any) -> Any:
    """`schema` without what no validator reads: titles, descriptions, examples, extensions."""
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


def _key(schema: Schema) -> bytes:
    """What the caches know a schema by: a schema is asked about many times in one run."""
    return _encoder.encode(schema)


def _canonical(schema: Schema) -> CanonicalSchema:
    return _canonicalized(_key(schema))


@lru_cache(maxsize=4096)
def _kinds(key: bytes) -> frozenset[str]:
    schema: Schema = msgspec.json.decode(key)
    return frozenset(kind for kind in TYPES if not is_empty(both(schema, {"type": kind})))


@lru_cache(maxsize=4096)
def _canonicalized(key: bytes) -> CanonicalSchema:
    return jsonschema_rs.canonicalize(
        msgspec.json.decode(key),
        draft=jsonschema_rs.Draft202012,
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(),
        offline=True,
    )


@lru_cache(maxsize=4096)
def _validator(key: bytes) -> Validator:
    return Validator(msgspec.json.decode(key))
