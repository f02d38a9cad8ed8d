"""Finds the sensitive arguments, which logs, audit records and traces must not contain."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import pointer_of, steps
from gateway.openapi.lowering.connector import SensitiveArguments

_OPAQUE: Final = frozenset({"propertyNames", "contentSchema"})
"""Keywords whose schemas describe something without a pointer: a name, or the content of a text."""


def sensitive_pointers(schema: Any, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """JSON Pointers to parts with `writeOnly` or `x-sensitive`. `*` stands for any step.

    Where a schema contains itself, all of the inner value is sensitive if a part of it may be.
    """
    if isinstance(schema, dict) and "$defs" in schema:
        return SensitiveArguments(schema["$defs"]).pointers(schema)
    if not isinstance(schema, dict):
        return ()
    if schema.get("writeOnly") is True or schema.get("x-sensitive") is True:
        return (pointer_of(path),)
    found = [
        pointer
        for keyword, at, member in keywords.branches(schema, "")
        for pointer in _found(keyword, at, member, path)
    ]
    return tuple(dict.fromkeys(found))


def _found(keyword: str, at: str, member: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The pointers of the subschema `member`, which is under `keyword` at the pointer `at`.

    A mark counts for all values, also if its subschema applies only to some of them.
    """
    if keyword in _OPAQUE and sensitive_pointers(member):
        yield pointer_of(path)
    elif keyword in keywords.NAMED_MEMBERS:
        yield from sensitive_pointers(member, (*path, steps(at)[-1]))
    elif keyword in keywords.ANY_MEMBERS:
        yield from sensitive_pointers(member, (*path, "*"))
    elif keyword != "$defs":
        yield from sensitive_pointers(member, path)
