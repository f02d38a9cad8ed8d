"""Checks the filters of endpoints by content: JSON Schemas for the data of events.

A filter has only keywords that describe one value or its members, so that the schemas of a filter
and of a contract are compared in a moment. Alternatives (`anyOf`) and patterns could take minutes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from gateway.contract.event import is_type_meant
from gateway.contract.values.nearest import hint
from gateway.contract.values.schema import Validator
from gateway.errors import InvalidArguments

MAX_FILTER_BYTES: Final = 4096
_FILTER: Final = "/filter"
_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_INNER: Final = {"$ref": "#/$defs/filter"}
_NUMBER: Final = {"type": "number"}
_FORM: Final = Validator(
    {
        **_INNER,
        "$defs": {
            "filter": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "description": {"type": "string"},
                    "type": {
                        "oneOf": [
                            {"enum": [*_TYPES]},
                            {"type": "array", "items": {"enum": [*_TYPES]}, "minItems": 1},
                        ]
                    },
                    "const": True,
                    "enum": {"type": "array", "minItems": 1},
                    "not": _INNER,
                    "minimum": _NUMBER,
                    "maximum": _NUMBER,
                    "exclusiveMinimum": _NUMBER,
                    "exclusiveMaximum": _NUMBER,
                    "properties": {"type": "object", "additionalProperties": _INNER},
                    "required": {"type": "array", "items": {"type": "string"}},
                    "contains": _INNER,
                },
            }
        },
    }
)

Schema = Mapping[str, Any]


def check_filter(content: Schema, types: Sequence[str], published: Mapping[str, Schema]) -> None:
    """Refuse a filter that cannot be used, that no event meets, or that every event meets.

    `types` are the types that the endpoint wants, or their prefixes. `published` are the schemas of
    data by type. Raises `InvalidArguments`.
    """
    from gateway.mapping.fields.analysis.algebra import (  # noqa: PLC0415 - few gateways have filters
        both,
        covers,
        is_empty,
    )

    if len(msgspec.json.encode(content)) > MAX_FILTER_BYTES:
        raise _refused("maxLength", f"filter must have at most {MAX_FILTER_BYTES} bytes as JSON")
    schema = dict(content)
    if violations := _FORM.violations(schema):
        raise InvalidArguments([replace(v, pointer=f"{_FILTER}{v.pointer}") for v in violations])
    restricts = False
    for each in types or ("*",):
        meant = [dict(data) for known, data in published.items() if is_type_meant(each, known)]
        if all(is_empty(both(data, schema)) for data in meant):
            of = f" of the type {each}" if types else ""
            raise _refused("contains", f"no event{of} has such data; {_why_none(schema, meant)}")
        restricts |= not all(covers(schema, data) for data in meant)
    if not restricts:
        detail = "every event of the endpoint has such data, so this excludes nothing"
        raise _refused("not", f"{detail}: name what an event must have under required too")


def _why_none(content: Schema, meant: Iterable[Schema]) -> str:
    """What helps to correct the filter: the first member that none of the schemas has."""
    known = {name for data in meant for name in data.get("properties", ())}
    wanted = (*content.get("properties", ()), *content.get("required", ()))
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is None:
        return "/asyncapi.json has the schemas of events"
    return f"there is no {unknown[:64]}: {hint(unknown, known, 'see /asyncapi.json')}"


def _refused(keyword: str, detail: str) -> InvalidArguments:
    return InvalidArguments.at(_FILTER, keyword, detail)
