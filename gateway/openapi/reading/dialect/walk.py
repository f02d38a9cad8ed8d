"""Brings one Schema Object and all its subschemas into the normal form."""

from typing import Any, Final
from urllib.parse import quote

from gateway.contract.values.pointers import follow, parent, pointer_of
from gateway.openapi.reading.bundle import REFUSED, Bundle, Spot, is_reference
from gateway.openapi.reading.dialect import legacy, positions
from gateway.openapi.reading.references import UnusableReference

_BESIDE_OLD_REFERENCE: Final = ("title", "description", "deprecated")
_OLD_VERSIONS: Final = frozenset({"2.0", "3.0"})
_IDENTIFIERS: Final = frozenset(
    {"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$comment"}
)


class SchemaWalk:
    """Normalises the schemas of one document."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._is_old = bundle.source.version in _OLD_VERSIONS

    def value(self, schema: Any, spot: Spot) -> Any:
        """The normal form of `schema`, which is written at `spot`."""
        self._bundle.count()
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            message = "a schema must be an object"
            return {"$ref": self._bundle.refuse(spot, "document/shape", message)}
        if "$ref" in schema:
            return self._reference(schema, spot)
        if "$recursiveRef" in schema:
            return self._recursive(spot)
        if "$dynamicRef" in schema:
            message, fix = "`$dynamicRef` is not supported", "use `$ref`"
            ref = self._bundle.refuse(spot.at("$dynamicRef"), "schema/dynamic-ref", message, fix)
            return {"$ref": ref}
        return legacy.rewrite(self._subschemas(schema, spot))

    def _subschemas(self, schema: dict[str, Any], spot: Spot) -> dict[str, Any]:
        def change(_: str, value: Any, steps: tuple[str | int, ...]) -> Any:
            return self.value(value, Spot(spot.file, spot.pointer + pointer_of(steps)))

        walked = {
            keyword: value
            if keyword in positions.MAPS and is_reference(value)
            else positions.changed(keyword, value, change)
            for keyword, value in schema.items()
            if keyword not in _IDENTIFIERS
        }
        for keyword in walked:
            if keyword in positions.MAPS and is_reference(schema[keyword]):
                walked[keyword] = self._members(schema[keyword], spot.at(keyword))
        # Swagger 2.0 documents describe tuples by a list of items (JSON Schema draft 4 §5.3.1).
        if isinstance(items := schema.get("items"), list):
            walked["items"] = [
                self.value(item, spot.at("items").at(at)) for at, item in enumerate(items)
            ]
        self._walk_mapping(walked, spot)
        return walked

    def _members(self, value: dict[str, Any], spot: Spot) -> dict[str, Any]:
        """The subschemas of the map that the reference `value` leads to."""
        try:
            members = self._bundle.members(value, spot)
        except UnusableReference as error:
            ref = self._bundle.refuse(spot, error.rule, error.message, error.fix)
            return {REFUSED: {"$ref": ref}}
        self._bundle.note_followed(spot)
        return {name: self.value(*each) for name, each in members.items()}

    def _reference(self, schema: dict[str, Any], spot: Spot) -> Any:
        ref = self._bundle.reference("Schema", schema["$ref"], spot)
        siblings = {name: value for name, value in schema.items() if name != "$ref"}
        if not self._is_old:
            return legacy.rewrite({"$ref": ref, **self._subschemas(siblings, spot)})
        kept: dict[str, Any] = {
            name: siblings[name] for name in _BESIDE_OLD_REFERENCE if name in siblings
        }
        # Strictly a sibling of `$ref` has no effect in 3.0, but authors who write it mean it.
        for keyword in ("nullable", "x-nullable"):
            if siblings.get(keyword) is True:
                kept[keyword] = True
        self._note_ignored(siblings, kept, spot)
        return legacy.rewrite({"$ref": ref, **kept})

    def _note_ignored(self, siblings: dict[str, Any], kept: dict[str, Any], spot: Spot) -> None:
        ignored = [
            name
            for name in siblings
            if name not in kept and not name.startswith("x-") and name != "example"
        ]
        if ignored:
            message = f"{', '.join(map(repr, ignored[:5]))} beside `$ref` has no effect here"
            fix = "put the reference into `allOf`, with the other keywords beside it"
            self._bundle.note(spot, "schema/beside-ref", message, fix)

    def _recursive(self, spot: Spot) -> dict[str, Any]:
        """The reference to the nearest schema around `spot` with `$recursiveAnchor: true`.

        JSON Schema 2019-09 §8.2.4.2.
        """
        pointer = spot.pointer
        whole = self._bundle.value_of(spot.file)
        while pointer:
            pointer = parent(pointer)
            around = follow(whole, pointer)
            if isinstance(around, dict) and around.get("$recursiveAnchor") is True:
                return {"$ref": self._bundle.reference("Schema", f"#{quote(pointer)}", spot)}
        message, fix = "no schema around it has `$recursiveAnchor`", "use `$ref`"
        ref = self._bundle.refuse(spot.at("$recursiveRef"), "schema/dynamic-ref", message, fix)
        return {"$ref": ref}

    def _walk_mapping(self, schema: dict[str, Any], spot: Spot) -> None:
        """Replace the references of a discriminator's mapping, which may also be plain names."""
        discriminator = schema.get("discriminator")
        mapping = discriminator.get("mapping") if isinstance(discriminator, dict) else None
        if isinstance(discriminator, dict) and isinstance(mapping, dict):
            inside = spot.at("discriminator").at("mapping")
            schema["discriminator"] = {
                **discriminator,
                "mapping": {
                    name: self._mapped(ref, inside.at(name)) for name, ref in mapping.items()
                },
            }

    def _mapped(self, ref: Any, spot: Spot) -> Any:
        is_reference = isinstance(ref, str) and ("#" in ref or "/" in ref)
        return self._bundle.reference("Schema", ref, spot) if is_reference else ref
