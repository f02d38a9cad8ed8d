"""Schemas that are checked in part only, where that would refuse values.

A keyword that cannot be run is left out, so that its schema admits more values. Under `not`, `if`,
`oneOf` and a bounded `contains`, the schema around it would then admit fewer.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from gateway.contracts.sources.keywords import ANNOTATIONS
from gateway.openapi.reading.dialect.annotated import checked_format
from gateway.openapi.reading.dialect.branches import holds_another, impossible_names
from gateway.openapi.reading.dialect.cleaning import Note, clean
from gateway.openapi.reading.dialect.components import all_subschemas, component_of, reaching

_MAX_LISTED: Final = 200
_LEFT_OUT: Final[Mapping[str, tuple[str, ...]]] = {
    "not": ("not",),
    # Members that only the condition evaluates would be refused as unevaluated.
    "if": ("if", "then", "else", "unevaluatedProperties", "unevaluatedItems"),
}


class PartialSchemas:
    """Finds them in one document, whose component schemas are in the normal form."""

    def __init__(
        self,
        components: Mapping[str, Any],
        check_time: Callable[[], None],
        *,
        checks_formats: bool = True,
    ) -> None:
        self._components = components
        self._check_time = check_time
        self._checks_formats = checks_formats

    def widened(self, schema: dict[str, Any], note: Note) -> dict[str, Any]:
        """`schema` without the keywords that would refuse values that the document admits."""
        for keyword, left_out in _LEFT_OUT.items():
            if self._is_partial(schema.get(keyword)):
                schema = {name: each for name, each in schema.items() if name not in left_out}
                message = "a part of it cannot be checked, so that the whole is not"
                note(keyword, "schema/partial", message)
        if "maxContains" in schema and self._is_partial(schema.get("contains")):
            schema = {name: each for name, each in schema.items() if name != "maxContains"}
            message = "`contains` cannot be checked in full, so that more items may match"
            note("maxContains", "schema/partial", message)
        if unknown := impossible_names(schema, self._components):
            required = [each for each in schema["required"] if each not in unknown]
            schema = {**schema, "required": required}
            names = ", ".join(unknown)[:_MAX_LISTED]
            message = f"a closed object has no other members, so these are not needed: {names}"
            note("required", "schema/required", message)
        branches = schema.get("oneOf")
        if isinstance(branches, list) and any(map(self._is_partial, branches)):
            note("oneOf", "schema/one-of", "a branch is checked in part, so it is as `anyOf`")
            return _as_any_of(schema)
        if self._overlaps(schema):
            message = "a branch admits what another one means, so `oneOf` is checked as `anyOf`"
            note("oneOf", "schema/one-of", message)
            return _as_any_of(schema)
        return schema

    def _overlaps(self, schema: dict[str, Any]) -> bool:
        """Whether the branches of its oneOf admit one another's values."""
        branches = schema.get("oneOf")
        return isinstance(branches, list) and holds_another(branches, self._components)

    def _is_partial(self, schema: Any) -> bool:
        return any(
            component_of(part) in self._partial_components or self._loses(part)
            for part in all_subschemas(schema)
        )

    @cached_property
    def _partial_components(self) -> frozenset[str]:
        return reaching(self._components, self._loses, self._check_time)

    def _loses(self, schema: dict[str, Any]) -> bool:
        """Whether a keyword of the schema object itself, which refuses values, is left out."""
        self._check_time()
        if not self._checks_formats and checked_format(schema) is not None:
            return True
        if self._overlaps(schema) or impossible_names(schema, self._components):
            return True
        lost: list[str] = []

        def note(keyword: str, rule: str, _: str) -> None:
            # A name that JSON Schema does not know refuses nothing.
            if rule != "schema/unknown-keyword" and keyword not in ANNOTATIONS:
                lost.append(keyword)

        clean(schema, note)
        return bool(lost)


def _as_any_of(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, with its oneOf as anyOf."""
    if "anyOf" not in schema:
        return {"anyOf" if name == "oneOf" else name: each for name, each in schema.items()}
    kept = {name: each for name, each in schema.items() if name != "oneOf"}
    others = schema.get("allOf")
    return {
        **kept,
        "allOf": [*(others if isinstance(others, list) else ()), {"anyOf": schema["oneOf"]}],
    }
