"""Tells the branches of a union apart by a look: by their types, or by a member that names each.

A look never says more than is true: what it does not see is asked in full.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

Follow: TypeAlias = Callable[[Any], Any]
"""Gives what the `$ref` of a schema refers to."""
Tags: TypeAlias = dict[str, frozenset[str]]
"""Names of members, and the texts that each of them may be."""

_MAX_DEPTH: Final = 5


def may_be(kind: str, schema: Any, follow: Follow) -> bool:
    """False if no value of the kind is valid, which is said by a type."""
    return all(_has_type(kind, each) for each in _parts(schema, follow, 0))


def literals(schema: Mapping[str, Any], follow: Follow) -> Tags:
    """The members that are one of some texts, if they are there, by the schema's own keywords."""
    properties = schema.get("properties")
    found: Tags = {}
    for name, each in properties.items() if isinstance(properties, dict) else ():
        for part in _parts(each, follow, 0):
            listed = _texts(part)
            if listed is not None:
                found[name] = found.get(name, listed) & listed
    return found


def tags(schema: Any, follow: Follow) -> Tags:
    """The literals of each object of the schema that is sure to have them."""
    found: Tags = {}
    required: set[str] = set()
    for part in _parts(schema, follow, 0):
        if isinstance(part, dict):
            required.update(part.get("required", ()))
            for name, listed in literals(part, follow).items():
                found[name] = found.get(name, listed) & listed
    return {name: listed for name, listed in found.items() if name in required}


def are_apart(schemas: Sequence[Any], follow: Follow) -> bool:
    """Whether no object is valid under two of the schemas, which is said by one member.

    Other values than objects may be.
    """
    found = [tags(each, follow) for each in schemas]
    for name in set(found[0]).intersection(*found[1:]):
        texts = [text for each in found for text in each[name]]
        if len(texts) == len(set(texts)):
            return True
    return False


def _parts(schema: Any, follow: Follow, depth: int) -> Iterator[Any]:
    """The schema, and those that hold with it."""
    yield schema
    if isinstance(schema, dict) and depth < _MAX_DEPTH:
        below = [follow(schema)] if "$ref" in schema else []
        below += schema["allOf"] if isinstance(schema.get("allOf"), list) else []
        for each in below:
            yield from _parts(each, follow, depth + 1)


def _has_type(kind: str, schema: Any) -> bool:
    if not isinstance(schema, dict) or "type" not in schema:
        return schema is not False
    types = schema["type"]
    names = {types} if isinstance(types, str) else set(types)
    return kind in names or (kind == "number" and "integer" in names)


def _texts(schema: Any) -> frozenset[str] | None:
    """The values of an enumeration of texts. None: it is none."""
    if not isinstance(schema, dict):
        return None
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return None
    return frozenset(listed)
