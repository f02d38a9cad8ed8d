"""Makes a small value of a schema quickly, around which a witness is put. It may be wrong."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas
from gateway.contract.values.schema import PREFIX

_MAX_DEPTH: Final = 12
_BY_TYPE: Final[Mapping[str, Any]] = {"null": None, "boolean": True, "array": [], "object": {}}


class Least:
    """Small values of the schemas of one side. Those of definitions are kept."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._made: dict[str, Any] = {}
        self._samples = Schemas({})

    def value(self, schema: Any, depth: int = 0) -> Any:
        """A value with what `schema` requires."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return {}
        if "$ref" in schema:
            return self._defined(schema["$ref"].removeprefix(PREFIX), depth)
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else schema["enum"][0]
        if "allOf" in schema:
            return self._joined(schema, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._merged(self._plain(schema, depth), schema[keyword][0], depth)
        return self._plain(schema, depth)

    def _defined(self, name: str, depth: int) -> Any:
        if name not in self._made:
            self._made[name] = {}
            self._made[name] = self.value(self._definitions[name], depth + 1)
        return self._made[name]

    def _joined(self, schema: Mapping[str, Any], depth: int) -> Any:
        found = self.value({key: each for key, each in schema.items() if key != "allOf"}, depth + 1)
        for part in schema["allOf"]:
            found = self._merged(found, part, depth)
        return found

    def _merged(self, found: Any, part: Any, depth: int) -> Any:
        other = self.value(part, depth + 1)
        if isinstance(found, dict) and isinstance(other, dict):
            return {**found, **other}
        return other

    def _plain(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else None)
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            members = schema.get("properties", {})
            names = schema.get("required", ())
            return {name: self.value(members.get(name, {}), depth + 1) for name in names}
        if kind == "array":
            items = [self.value(each, depth + 1) for each in schema.get("prefixItems", ())]
            missing = schema.get("minItems", 0) - len(items)
            return [*items, *[self.value(schema.get("items"), depth + 1)] * min(missing, 20)]
        return _BY_TYPE[kind] if kind in _BY_TYPE else self._scalar(schema)

    def _scalar(self, schema: Mapping[str, Any]) -> Any:
        with suppress(NoSample, LookupError):
            return self._samples.samples(dict(schema)).sample("least", is_short=True)
        return "x"
