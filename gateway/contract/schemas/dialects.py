"""Brings JSON Schemas of draft-04 to 2020-12 into the form in which schemas are compared.

That form is 2020-12 with references `#/$defs/<name>` only: no identifiers, no anchors, no formats
that are only annotations. What a schema means without `$schema`, where drafts differ, is what its
partner's dialect says, else 2020-12.
"""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import FORMATS, PREFIX

Schema = dict[str, Any]

_DIALECT: Final = re.compile(r"https?://json-schema\.org/draft(?:-0?|/)(4|6|7|2019|2020).*")
_OF_OPENAPI: Final = re.compile(r"https://spec\.openapis\.org/oas/3\.[12]/dialect/.*")
NEWEST: Final = 2020
NAMED: Final = "x-dialect"
"""The keyword of the name of an older dialect, in documents of which `$schema` was read."""
_SINCE: Final = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains", "maxContains"), 2019),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), 2019),
    "prefixItems": 2020,
}
"""The dialects in which keywords came, if not the first one."""
_REFERENCES: Final = {"$ref": 4, "$recursiveRef": 2019, "$dynamicRef": 2020}
_LEFT_OUT: Final = frozenset(
    {"$id", "id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
    | {"$defs", "definitions", *_REFERENCES}
)
_MAPS: Final = SCHEMA_MAPS | {"definitions", "dependencies"}
_LISTS: Final = SCHEMA_LISTS | {"items"}
_VALUES: Final = SCHEMA_VALUES | {"additionalItems"}
_UNPLAIN: Final = re.compile(
    rb'"(?:\$id|\$anchor|\$dynamicAnchor|\$dynamicRef|\$recursiveRef|dependencies)":'
    rb'|"\$schema":"(?!https://json-schema\.org/draft/2020-12/schema")'
    rb'|"items":\[|"exclusiveM(?:in|ax)imum":(?:true|false)'
    rb'|"\$ref":"(?!#/\$defs/[^/~%#"]+")'
    rb'|"format":"(?!(?:' + "|".join(sorted(FORMATS)).encode() + rb')")'
)
"""Text that all schemas have that are not in the form, and perhaps some that are."""
_encoder: Final = msgspec.json.Encoder()


def comparable(outer: Schema | bool, inner: Schema | bool) -> tuple[Schema, Schema]:
    """Two schemas in the form in which they are compared.

    Raises `ValueError` if a dialect is not known, or if both name one and these differ.
    """
    texts = [_encoder.encode(each) for each in (outer, inner)]
    if not any(map(_UNPLAIN.search, texts)):
        return _object(outer), _object(inner)
    named = {dialect for each in (outer, inner) if (dialect := _named(each)) is not None}
    if len(named) > 1:
        raise ValueError(
            f"they are of different dialects: {' and '.join(map(dialect_name, sorted(named)))}"
        )
    # Of those without a name, none says that it does without the keywords of draft-07.
    dialect = max(named.pop(), 7) if named else NEWEST
    return _Document(outer, dialect).plain(), _Document(inner, dialect).plain()


def modernise(schema: Schema) -> None:
    """Rewrite keywords of older dialects in one schema object, which means the same afterwards."""
    for exclusive, inclusive in _BOUNDS:
        if isinstance(flag := schema.get(exclusive), bool):
            del schema[exclusive]
            if flag and inclusive in schema:
                schema[exclusive] = schema.pop(inclusive)
    _modernise_items(schema)
    _modernise_dependencies(schema)


_BOUNDS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def _modernise_items(schema: Schema) -> None:
    if isinstance(items := schema.get("items"), list):
        del schema["items"]
        if items:
            schema["prefixItems"] = items
        if "additionalItems" in schema:
            schema["items"] = schema["additionalItems"]
    schema.pop("additionalItems", None)


def _modernise_dependencies(schema: Schema) -> None:
    """`dependencies` is what `dependentRequired` and `dependentSchemas` are now (draft-07 §6.5.7).

    2020-12 does not know it, but its meta-schema keeps the word for this meaning.
    """
    if not isinstance(given := schema.get("dependencies"), dict):
        return
    del schema["dependencies"]
    lists = {name: each for name, each in given.items() if isinstance(each, list)}
    schemas = {name: each for name, each in given.items() if name not in lists}
    for keyword, found in (("dependentRequired", lists), ("dependentSchemas", schemas)):
        if found:
            schema[keyword] = {**found, **schema.get(keyword, {})}


def _object(schema: Schema | bool) -> Schema:
    return schema if isinstance(schema, dict) else {} if schema else {"not": {}}


def _named(schema: Any) -> int | None:
    """The dialect that the schema names. Raises `ValueError` for one that is not known."""
    given = schema.get("$schema") if isinstance(schema, dict) else None
    return dialect_of(given) if isinstance(given, str) else None


def dialect_of(name: str) -> int:
    """The dialect with this URI: the number of its draft, or its year.

    Raises `ValueError` for one that is not known.
    """
    if _OF_OPENAPI.fullmatch(name):
        return NEWEST
    known = _DIALECT.fullmatch(name)
    if known is None:
        raise ValueError(f"the dialect {name} is not known")
    return int(known[1])


def dialect_name(dialect: int) -> str:
    """The name that people call a dialect by."""
    return {2019: "2019-09", 2020: "2020-12"}.get(dialect, f"draft-0{dialect}")


class _Spot(Struct, frozen=True):
    """A schema where it stands."""

    schema: Any
    pointer: str
    """From the root of its document."""
    resource: str
    """The URI against which its references are resolved."""
    dialect: int
    scope: tuple[tuple[str, str], ...] = ()
    """For each dynamic anchor on the way here, the outermost resource that has it."""


class _Document:
    """A schema with what its references may name."""

    def __init__(self, schema: Schema | bool, dialect: int) -> None:
        self._resources: dict[str, _Spot] = {}
        self._anchors: dict[str, dict[str, _Spot]] = {}
        """By name, then by resource."""
        self._dynamic: dict[str, dict[str, _Spot]] = {}
        self._root = self._entered(schema, "", _Spot(None, "", "", dialect))
        self._index(self._root)
        self._names: dict[tuple[str, Any], str] = {}
        self._taken: set[str] = set()
        self._waiting: list[tuple[str, _Spot]] = []

    def plain(self) -> Schema:
        """The schema in the form in which schemas are compared."""
        root = self._entered(self._root.schema, "", self._root)
        found = _object(self._rewritten(root))
        definitions: Schema = {}
        while self._waiting:
            name, spot = self._waiting.pop()
            definitions[name] = self._rewritten(spot)
        return {**found, "$defs": definitions} if definitions else found

    def _entered(self, schema: Any, pointer: str, around: _Spot) -> _Spot:
        """The spot of a schema in another one. It may begin a resource of its own."""
        resource, dialect = around.resource, around.dialect
        if isinstance(schema, dict):
            named = _named(schema)
            dialect = dialect if named is None else named
            given = schema.get("id" if dialect == 4 else "$id")
            # Up to draft-07, nothing beside a reference counts.
            if isinstance(given, str) and not (dialect <= 7 and "$ref" in schema):
                resource = urldefrag(_joined(resource, given)).url
        return _Spot(schema, pointer, resource, dialect, self._scope(around.scope, resource))

    def _scope(self, scope: tuple[tuple[str, str], ...], resource: str) -> Any:
        new = {name: resource for name, spots in self._dynamic.items() if resource in spots}
        return tuple(sorted({**new, **dict(scope)}.items())) if new else scope

    def _index(self, spot: _Spot) -> None:
        if not isinstance(spot.schema, dict):
            return
        self._resources.setdefault(spot.resource, spot)
        for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
            name = spot.schema.get(keyword)
            if isinstance(name, str) and (not keyword.endswith("id") or name.startswith("#")):
                name = name.removeprefix("#")
                self._anchors.setdefault(name, {})[spot.resource] = spot
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, {})[spot.resource] = spot
        if spot.schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", {})[spot.resource] = spot
        for keyword in spot.schema:
            self._changed(spot, keyword, self._index)

    def _changed(self, spot: _Spot, keyword: str, change: Callable[[_Spot], Any]) -> Any:
        """The value of a keyword, with its subschemas changed."""
        given, at = spot.schema[keyword], child(spot.pointer, keyword)

        def changed(schema: Any, pointer: str) -> Any:
            return change(self._entered(schema, pointer, spot))

        if keyword in _MAPS and isinstance(given, dict):
            return {name: changed(each, child(at, name)) for name, each in given.items()}
        if keyword in _LISTS and isinstance(given, list):
            return [changed(each, child(at, index)) for index, each in enumerate(given)]
        return changed(given, at) if keyword in _VALUES else given

    def _rewritten(self, spot: _Spot) -> Any:
        if not isinstance(spot.schema, dict):
            return spot.schema
        if "$ref" in spot.schema and spot.dialect <= 7:
            return {"$ref": self._referred(spot, "$ref")}
        found = {
            keyword: self._changed(spot, keyword, self._rewritten)
            for keyword in spot.schema
            if keyword not in _LEFT_OUT and _SINCE.get(keyword, 0) <= spot.dialect
        }
        if isinstance(found.get("format"), str) and found["format"] not in FORMATS:
            del found["format"]  # It is an annotation only.
        modernise(found)
        references = [
            {"$ref": self._referred(spot, keyword)}
            for keyword, since in _REFERENCES.items()
            if keyword in spot.schema and since <= spot.dialect
        ]
        if len(references) == 1 and not found:
            return references[0]
        return {**found, "allOf": [*found.get("allOf", ()), *references]} if references else found

    def _referred(self, spot: _Spot, keyword: str) -> str:
        """The reference to the definition of what a reference names."""
        reference = str(spot.schema[keyword])
        target = self._target(spot, reference)
        if target is None:
            raise ValueError(f"{reference} leads out of its schema")
        name = unquote(urldefrag(reference).fragment)
        anchored = self._dynamic.get(name, {})
        scope = dict(self._scope(spot.scope, target.resource))
        if keyword != "$ref" and anchored.get(target.resource) is target:
            target = anchored[scope[name]]
        target = replace(target, scope=self._scope(spot.scope, target.resource))
        key = target.pointer, target.scope
        if key not in self._names:
            name = re.sub(r"[^\w.-]", "_", target.pointer.rpartition("/")[2] or "root")
            while name in self._taken:
                name += "_"
            self._names[key] = name
            self._taken.add(name)
            self._waiting.append((name, target))
        return f"{PREFIX}{self._names[key]}"

    def _target(self, spot: _Spot, reference: str) -> _Spot | None:
        uri, fragment = urldefrag(_joined(spot.resource, reference))
        found = self._resources.get(uri)
        if found is None or not fragment:
            return found
        fragment = unquote(fragment)
        if not fragment.startswith("/"):
            return self._anchors.get(fragment, {}).get(uri)
        for step in steps(fragment):
            below: Any = found.schema
            if isinstance(below, list) and step.isdigit() and int(step) < len(below):
                below = below[int(step)]
            elif isinstance(below, dict) and step in below:
                below = below[step]
            else:
                return None
            found = self._entered(below, child(found.pointer, step), found)
        return found


def _joined(base: str, reference: str) -> str:
    """The URI of a reference. `urljoin` knows no URN."""
    return f"{base}{reference}" if reference.startswith("#") else urljoin(base, reference)
