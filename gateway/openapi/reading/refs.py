"""Follows references of the normal form, except those of schemas."""

from typing import Any, Final, NamedTuple

from gateway.contract.values.pointers import NoSuchPlace, follow
from gateway.openapi.reading.bundle import REFUSED
from gateway.openapi.reading.normalise import NormalDocument
from gateway.openapi.reading.references import FIXES
from gateway.openapi.reading.refusal import PartRefused

_REFUSED_PREFIX: Final = f"#/{REFUSED}/"
_TEXTS: Final = frozenset({"summary", "description"})


class Part(NamedTuple):
    """An object of the normal form, and its pointer there."""

    value: dict[str, Any]
    pointer: str


def resolve(document: NormalDocument, node: Any, pointer: str = "") -> dict[str, Any]:
    """`node`, or the object that its `$ref` leads to.

    `summary` and `description` beside a `$ref` replace those of its target (OpenAPI 3.1 §4.8.23).
    Operations beside the `$ref` of a Path Item are added to those of its target. Raises
    `PartRefused` for a part that cannot be served, and for references that lead to themselves.
    """
    return resolve_part(document, node, pointer).value


def resolve_part(document: NormalDocument, node: Any, pointer: str) -> Part:
    """As `resolve`, with the pointer to the object that was found. `pointer` is that of `node`."""
    passed: list[str] = []
    beside: dict[str, Any] = {}
    at = pointer
    while isinstance(node, dict) and "$ref" in node:
        ref = node["$ref"]
        if not isinstance(ref, str):
            raise _malformed(document, at, "a reference must be text")
        if ref in passed:
            message = f"the reference leads to itself: {' → '.join([*passed, ref])}"
            rule = "ref/recursive"
            raise PartRefused(document.finding(pointer, rule, message, FIXES[rule]))
        passed.append(ref)
        beside = {**{name: node[name] for name in node if name != "$ref"}, **beside}
        at = ref[1:]
        node = target_of(document, ref)
    if isinstance(node, bool):
        # A schema may be a boolean (JSON Schema Core §4.3.2).
        node = {} if node else {"not": {}}
    if not isinstance(node, dict):
        raise _malformed(document, pointer, "the reference leads to no object")
    _refuse_conflicts(document, node, beside, pointer)
    return Part({**node, **beside} if beside else node, at)


def target_of(document: NormalDocument, ref: str) -> Any:
    """The value that a `$ref` of the normal form leads to. Raises `PartRefused`."""
    if ref.startswith(_REFUSED_PREFIX):
        raise PartRefused(document.refusals[int(ref.removeprefix(_REFUSED_PREFIX))])
    try:
        return follow(document.value, ref[1:])
    except NoSuchPlace:
        rule = "ref/dangling"
        message = f"there is nothing at {ref}"
        raise PartRefused(document.finding("", rule, message, FIXES[rule])) from None


def _malformed(document: NormalDocument, pointer: str, message: str) -> PartRefused:
    rule = "ref/malformed"
    return PartRefused(document.finding(pointer, rule, message, FIXES[rule]))


def _refuse_conflicts(
    document: NormalDocument, target: dict[str, Any], beside: dict[str, Any], pointer: str
) -> None:
    """OpenAPI does not define which of two equal members of a Path Item counts (3.1 §4.8.9)."""
    if repeated := sorted((beside.keys() & target.keys()) - _TEXTS):
        message = f"the `$ref` and its target both have {', '.join(map(repr, repeated))}"
        raise PartRefused(document.finding(pointer, "ref/conflict", message, "keep one of the two"))
