"""What a JSON Schema admits, and JSON values from texts: the decoder's view of a schema.

Written from JSON Schema 2020-12 and OpenAPI 3.2 alone. It shares no code with the encoder.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import jsonschema_rs

ALL: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
SCALARS: Final = frozenset({"boolean", "integer", "number", "string"})
NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
DEEPEST: Final = 40


class Undecodable(Exception):
    """The request says something that its document does not admit."""


class Schemas:
    """The schemas of one document, whose references are `#/$defs/<name>`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._validators: dict[int, tuple[Any, Any]] = {}

    def target(self, reference: str) -> Any:
        """The schema that a reference names."""
        name = reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        return self._definitions.get(name, True)

    def kinds(self, schema: Any, depth: int = 0) -> frozenset[str]:
        """The types that may occur."""
        if schema is True or depth > DEEPEST:
            return ALL
        if schema is False:
            return frozenset()
        kinds = self._declared(schema)
        if "$ref" in schema:
            kinds &= self.kinds(self.target(schema["$ref"]), depth + 1)
        for branch in schema.get("allOf", []):
            kinds &= self.kinds(branch, depth + 1)
        for alternatives in (schema.get("anyOf"), schema.get("oneOf")):
            if alternatives is not None:
                kinds &= {kind for each in alternatives for kind in self.kinds(each, depth + 1)}
        return frozenset(kinds)

    def member(self, schema: Any, name: str) -> Any:
        """The schema of an object's member."""
        parts = list(self.flattened(schema))
        found = [part["properties"][name] for part in parts if name in part.get("properties", {})]
        if not found:
            found = [
                part["additionalProperties"]
                for part in parts
                if isinstance(part.get("additionalProperties"), dict)
            ]
        return _any_of(found)

    def element(self, schema: Any) -> Any:
        """The schema of a list's items."""
        return _any_of([part["items"] for part in self.flattened(schema) if "items" in part])

    def declared_names(self, schema: Any) -> set[str]:
        """The names of an object's members that the schema lists."""
        return {name for part in self.flattened(schema) for name in part.get("properties", {})}

    def flattened(self, schema: Any, depth: int = 0) -> Iterable[dict[str, Any]]:
        """The schema and everything it combines."""
        if not isinstance(schema, dict) or depth > DEEPEST:
            return
        yield schema
        if "$ref" in schema:
            yield from self.flattened(self.target(schema["$ref"]), depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for each in schema.get(keyword, []):
                yield from self.flattened(each, depth + 1)

    def is_valid(self, value: Any, schema: Any) -> bool:
        """Whether the schema admits the value."""
        if id(schema) not in self._validators:
            # The schema is kept beside its validator, so that its id stays its own.
            self._validators[id(schema)] = (schema, self._compiled(schema))
        return self._validators[id(schema)][1].is_valid(value)

    def first(self, candidates: Iterable[Any], schema: Any) -> Any:
        """The first candidate that the schema admits; a single one needs no check."""
        candidates = list(candidates)
        if len(candidates) == 1:
            return candidates[0]
        for candidate in candidates:
            if self.is_valid(candidate, schema):
                return candidate
        if not candidates:
            raise Undecodable("no type of the schema can be read from the text")
        return candidates[0]

    def scalars(self, text: str, kinds: frozenset[str]) -> list[Any]:
        """The primitive values that a text may stand for (OpenAPI 3.2, Appendix B)."""
        found: list[Any] = []
        if "boolean" in kinds and text in {"true", "false"}:
            found.append(text == "true")
        if kinds & {"integer", "number"} and NUMBER.fullmatch(text):
            found.append(json.loads(text))
        if "string" in kinds:
            found.append(text)
        return found

    def needed(self, schema: Any) -> dict[str, Any]:
        """The definitions that a schema refers to, directly or not."""
        needed: dict[str, Any] = {}
        waiting = [schema]
        while waiting:
            for name in _references(waiting.pop()):
                if name not in needed:
                    needed[name] = self._definitions.get(name, True)
                    waiting.append(needed[name])
        return needed

    def _compiled(self, schema: Any) -> Any:
        if isinstance(schema, bool):
            return jsonschema_rs.Draft202012Validator(schema)
        whole = {"allOf": [schema], "$defs": self.needed(schema)}
        return jsonschema_rs.Draft202012Validator(whole, offline=True, validate_formats=True)

    @staticmethod
    def _declared(schema: Mapping[str, Any]) -> frozenset[str]:
        declared = schema.get("type", sorted(ALL))
        kinds = set(declared if isinstance(declared, list) else [declared])
        if "number" in kinds:
            kinds.add("integer")
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            kinds &= {kind for value in values for kind in _kinds_of(value)}
        return frozenset(kinds)


def _kinds_of(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"integer", "number"}
    return {{str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]}


def _any_of(found: list[Any]) -> Any:
    if not found:
        return True
    return found[0] if len(found) == 1 else {"anyOf": found}


def _references(schema: Any) -> Iterable[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            yield reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        for each in schema.values():
            yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)
