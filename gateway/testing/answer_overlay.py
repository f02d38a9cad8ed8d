"""The overlay (OpenAPI Overlay 1.0) with which a contract says what its API answers."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.openapi.reading.normalise import NormalDocument
from gateway.contract.values.pointers import steps
from gateway.testing.answer_contract import AnswerContract, AnswerDifference, is_union
from gateway.testing.answer_shapes import Shape, types_of

_REMOVED: Final = frozenset(
    {
        *("enum", "const", "pattern", "format", "minLength", "maxLength", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"),
        *("uniqueItems", "minProperties", "maxProperties"),
    }
)
"""Keywords that are left out where an answer breaks them."""


def overlay_of(
    contract: AnswerContract, found: Iterable[AnswerDifference]
) -> tuple[dict[str, Any] | None, int]:
    """The overlay that settles `found`, after the actions that the import has already, and for how
    many it has no action: those are changed by hand. None: there is no action."""
    actions: list[dict[str, Any]] = []
    unsaid = 0
    settled: set[tuple[str, ...]] = set()
    types: dict[str, Any] = {}
    for each in found:
        if each.key in settled:
            continue
        settled.add(each.key)
        own = _actions(contract.document, each, types)
        unsaid += own is None
        actions += own or ()
    if not actions:
        return None, unsaid
    info = {"title": f"What {contract.name} answers beside its contract", "version": "1.0.0"}
    known = contract.overlay.get("actions", [])
    head = {"overlay": "1.0.0", "info": info, **contract.overlay}
    return {**head, "actions": [*known, *actions]}, unsaid


def _actions(
    document: NormalDocument, found: AnswerDifference, types: dict[str, Any]
) -> list[dict[str, Any]] | None:
    """None: an overlay of this document cannot say it. `types`: see `_Place`."""
    actions: list[dict[str, Any]] = []
    for pointer in found.pointers:
        spot = document.spot_of(pointer)
        if spot.file is not document.source.file:
            return None
        query, schema = _query(spot.pointer), _written(document, spot.pointer)
        if isinstance(schema, dict):
            types.setdefault(query, schema.get("type"))
        place = _Place(query=query, schema=schema, version=document.source.version, types=types)
        own = _of_keyword(place, found)
        if own is None:
            return None
        actions += own
    for each in actions[:1]:
        each["description"] = f"{found.answer} at {found.place or '/'}: answered live."
    return actions if found.pointers else None


class _Place(Struct, frozen=True, kw_only=True):
    """What an action changes, as the document has it."""

    query: str
    schema: Any
    version: str
    types: dict[str, Any]
    """By query, what `type` is after the actions so far. None: there is none."""

    @property
    def is_old(self) -> bool:
        """Whether null is `nullable`, and there is one type."""
        return self.version in {"2.0", "3.0"}

    def update(self, value: Any) -> dict[str, Any]:
        return {"target": self.query, "update": value}

    def removal(self, keyword: str) -> dict[str, Any]:
        return {"target": f"{self.query}{_step(keyword)}", "remove": True}


def _of_keyword(place: _Place, found: AnswerDifference) -> list[dict[str, Any]] | None:
    """The actions for what one keyword says. None: there are none for it."""
    keyword = found.keyword
    name = steps(found.place)[-1] if found.place else ""
    if keyword == "properties" and name != "*":
        return [place.update({"properties": {name: _schema(found.shape, is_old=place.is_old)}})]
    if keyword == "required":
        return [{"target": f"{place.query}[?@ == {_step(name)[1:-1]}]", "remove": True}]
    if keyword == "null":
        return _nullable(place)
    if keyword == "type":
        return _wider(place, found.shape["type"])
    if keyword in {"status", "media type"}:
        return [place.update(_response(found, place.version))]
    return [place.removal(keyword)] if keyword in _REMOVED and keyword in place.schema else None


def _written(document: NormalDocument, pointer: str) -> Any:
    """The value as the document has it."""
    value: Any = document.source.value
    for step in steps(pointer):
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _query(pointer: str) -> str:
    """The JSONPath (RFC 9535) of a pointer."""
    return "$" + "".join(map(_step, steps(pointer)))


def _step(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def _nullable(place: _Place) -> list[dict[str, Any]]:
    if place.is_old:
        return [place.update({"nullable": True})]
    schema = place.schema
    if place.types[place.query] is not None and not is_union(schema) and "$ref" not in schema:
        listed = [place.update({"enum": [None]})] if "enum" in schema else []
        return [*_with_type(place, "null"), *listed]
    found = [place.update({"anyOf": [dict(schema), {"type": "null"}]})]
    return found + [place.removal(keyword) for keyword in schema if keyword != "anyOf"]


def _wider(place: _Place, kind: str) -> list[dict[str, Any]]:
    known = place.types[place.query]
    if known == "integer" and kind == "number":
        place.types[place.query] = kind
        return [place.update({"type": kind})]
    if place.is_old:
        place.types[place.query] = None
        return [] if known is None else [place.removal("type")]
    return _with_type(place, kind)


def _with_type(place: _Place, kind: str) -> list[dict[str, Any]]:
    """One type more. An overlay adds to a list, and replaces a text."""
    known = place.types[place.query]
    listed = known if isinstance(known, list) else [known]
    place.types[place.query] = [*listed, kind]
    return [place.update({"type": [kind] if isinstance(known, list) else [known, kind]})]


def _response(found: AnswerDifference, version: str) -> dict[str, Any]:
    status, _, essence = found.reply.partition(" ")
    response: dict[str, Any] = {"description": "Answered by the live API."}
    schema = _schema(found.shape, is_old=version in {"2.0", "3.0"})
    if version == "2.0" and essence:
        response["schema"] = schema
    elif essence:
        response["content"] = {essence: {"schema": schema} if found.shape else {}}
    return {status: response}


def _schema(shape: Shape, *, is_old: bool) -> dict[str, Any]:
    """A Schema Object that admits the shape: open, and without the bounds that were seen."""
    types = types_of(shape)
    kinds = [each for each in types if each != "null"]
    if not kinds or (is_old and len(kinds) > 1):
        return {}
    found: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if len(types) > len(kinds):
        found |= {"nullable": True} if is_old else {"type": types}
    if "properties" in shape and "object" in kinds:
        named = shape["properties"].items()
        found["properties"] = {name: _schema(each, is_old=is_old) for name, each in named}
    if "array" in kinds:
        found["items"] = _schema(shape.get("items", {}), is_old=is_old)
    if "format" in shape and "string" in kinds:
        found["format"] = shape["format"]
    return found
