"""References to component schemas, and which components reach a schema of some kind by them.

Schemas are in the normal form.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gateway.contract.values.pointers import steps
from gateway.openapi.reading.dialect import positions

_PREFIX: Final = "#/components/schemas/"


def component_of(schema: Any) -> str | None:
    """The name of the component that `schema` refers to, if it is a reference to one."""
    ref = schema.get("$ref") if isinstance(schema, dict) else None
    return steps(ref[1:])[-1] if isinstance(ref, str) and ref.startswith(_PREFIX) else None


def reaching(
    components: Mapping[str, Any],
    is_one: Callable[[dict[str, Any]], bool],
    check_time: Callable[[], None],
) -> frozenset[str]:
    """The components with a subschema that `is_one`, also behind references."""
    users: dict[str, set[str]] = {}
    waiting: list[str] = []
    for name, schema in components.items():
        for part in all_subschemas(schema):
            check_time()
            if (used := component_of(part)) is not None:
                users.setdefault(used, set()).add(name)
            if is_one(part):
                waiting.append(name)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(users.get(name, ()))
    return frozenset(found)


def all_subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema object in `schema`, itself first."""
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            yield current
            for keyword, value in current.items():
                waiting.extend(positions.direct(keyword, value))
