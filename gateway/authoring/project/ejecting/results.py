"""The schemas and the result of an ejected operation, and what contract files cannot express."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.openapi.reading.schemas import Schema
from gateway.contract.imported import (
    ImportedBody,
    ImportedOperation,
    ImportedParameter,
    ImportedReply,
)
from gateway.contract.operation import DeclaredError
from gateway.contract.upstream import PATH_PARAMETER
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import (
    ANNOTATED,
    DATA,
    MAPS,
    PREFIX,
    Validator,
    with_definitions,
)
from gateway.encoding.bodies import FORM
from gateway.encoding.replies.content import BODILESS, accept_of
from gateway.encoding.shapes import Shapes

# The schemas of an ejected operation: those of the document, in the form of contract files.
#
# They allow the same values. Objects that the document leaves open stay open, and properties
# without a description get one.

_COMPONENTS: Final = "#/components/schemas/"


MAX_DEFINITIONS: Final = 40
"""The most definitions in a file of a tool whose schema contains itself. Objects that name each
other reach all objects of some vendors: 400 for a charge of Stripe, half a megabyte per tool."""
_DEFAULT: Final = "default"
_EXAMPLES: Final = "examples"
_LONGEST_DEFAULT: Final = 60
_IGNORED: Final = frozenset(
    {"contentEncoding", "contentMediaType", "contentSchema", ANNOTATED, _DEFAULT}
)
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_LARGEST: Final = 2**63 - 1


class Definitions:
    """The definitions of a document, which its schemas refer to."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def whole(self, schema: Schema) -> Schema:
        """`schema` with the definitions that it needs."""
        return with_definitions(schema, self._definitions)

    def resolved(self, schema: Schema) -> Schema:
        """`schema`, or what it refers to if it is only a reference."""
        seen: set[str] = set()
        while isinstance(schema, dict) and set(schema) - {"description", "title"} == {"$ref"}:
            name = _name(schema["$ref"])
            if name in seen:
                return schema
            seen.add(name)
            schema = self._definitions[name]
        return schema

    def target(self, reference: str) -> Schema:
        """What `reference` refers to."""
        found: Schema = self._definitions[_name(reference)]
        return found

    def needed(self, schema: Schema) -> dict[str, Any]:
        """The definitions that `schema` needs, by name."""
        whole = self.whole(schema)
        found: dict[str, Any] = whole.get("$defs", {}) if isinstance(whole, dict) else {}
        return found

    def kinds(self, schema: Schema) -> frozenset[str]:
        """The JSON types of which `schema` may admit values. Never too few."""
        return Shapes(self._definitions).types(schema)

    def admits_null(self, schema: Schema) -> bool:
        """Whether null is a value of `schema`."""
        return not Validator(self.whole(schema)).violations(None)

    def plain(self, schema: Any, *, is_map: bool = False) -> Any:
        """`schema` without what contract files refuse and no validator heeds: keywords about the
        content of texts, and examples that the schema itself refuses.

        Bounds of more than 64 bits become the largest ones. A default becomes a sentence: a field
        map would send it, and an import leaves it to the vendor.
        """
        if isinstance(schema, list):
            return [self.plain(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if is_map:
            return {name: self.plain(each) for name, each in schema.items()}
        found = {
            keyword: value
            if keyword in DATA
            else _bound(value)
            if keyword in _BOUNDS
            else self.plain(value, is_map=keyword in MAPS)
            for keyword, value in schema.items()
            if keyword not in _IGNORED and self._is_sound(schema, keyword)
        }
        return _with_default(found, schema[_DEFAULT]) if _DEFAULT in schema else found

    def _is_sound(self, schema: dict[str, Any], keyword: str) -> bool:
        """Whether `keyword` has no examples that `schema` refuses."""
        if keyword != _EXAMPLES:
            return True
        values = schema[keyword]
        try:
            validator = Validator(self.whole(schema))
        except ValueError:
            return False
        return isinstance(values, list) and not any(map(validator.violations, values))

    def unreadable(self, schema: Schema) -> str | None:
        """The name of a definition of `schema` that contains itself, if its file would have more
        definitions than an author can read."""
        needed = self.needed(schema)
        return self.recursive(schema) if len(needed) > MAX_DEFINITIONS else None

    def recursive(self, schema: Schema) -> str | None:
        """The name of a definition of `schema` that contains itself, or None."""
        for name, definition in self.needed(schema).items():
            inside = {_name(each) for each in _references(definition)}
            waiting, seen = [*inside], set(inside)
            while waiting:
                for each in _references(self._definitions[waiting.pop()]):
                    if (other := _name(each)) not in seen:
                        seen.add(other)
                        waiting.append(other)
            if name in seen:
                return name
        return None


def tool_schema(definitions: Definitions, schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, an object, as the file of a tool, with its definitions."""
    found: dict[str, Any] = _published(definitions.plain(schema))
    if needed := definitions.needed(schema):
        found["$defs"] = {
            name: _published(definitions.plain(each)) for name, each in needed.items()
        }
    return found


def described_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with descriptions, and with an explicit mark of objects that are open."""
    found: dict[str, Any] = _published(schema)
    return found


def upstream_schema(definitions: Definitions, schema: Schema) -> dict[str, Any]:
    """`schema` as part of the contract of an upstream, whose components are its definitions."""
    found = _renamed(definitions.plain(schema))
    return found if isinstance(found, dict) else ({} if found else {"not": {}})


def words(name: str) -> str:
    """A description of the property `name`."""
    return f"The {name.replace('_', ' ').replace('-', ' ').strip()}."


def uses_keyword(schema: Any, keyword: str) -> bool:
    """Whether `keyword` is in `schema` or its subschemas."""
    return any(keyword in node for node in _nodes(schema))


def _with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """`schema` with a sentence about the default that the vendor uses."""
    text = json.dumps(default, ensure_ascii=False)
    if len(text) > _LONGEST_DEFAULT:
        return schema
    before = str(schema.get("description", "")).strip()
    return {**schema, "description": f"{before} The vendor's default is {text}.".strip()}


def _bound(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _LARGEST:
        return _LARGEST if value > 0 else -_LARGEST
    return value


def _published(node: Any, *, is_map: bool = False) -> Any:
    """`node` with descriptions, and with an explicit mark of objects that are open."""
    if isinstance(node, list):
        return [_published(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _published(each) for name, each in node.items()}
    found: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword == "properties":
            found[keyword] = {name: _described(name, each) for name, each in value.items()}
        elif keyword in DATA:
            found[keyword] = value
        else:
            found[keyword] = _published(value, is_map=keyword in MAPS)
    types = node.get("type", ())
    is_object = "properties" in node or "object" in ([types] if isinstance(types, str) else types)
    if is_object and node.get("additionalProperties", True) is True:
        found["additionalProperties"] = {}
    return found


def _described(name: str, schema: Any) -> dict[str, Any]:
    found = _published(schema)
    if isinstance(found, bool):
        found = {} if found else {"not": {}}
    return found if found.get("description") else {**found, "description": words(name)}


def _renamed(node: Any, *, is_map: bool = False) -> Any:
    if isinstance(node, list):
        return [_renamed(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{_COMPONENTS}{value.removeprefix(PREFIX)}"
        if key == "$ref" and not is_map
        else value
        if key in DATA and not is_map
        else _renamed(value, is_map=key in MAPS and not is_map)
        for key, value in node.items()
    }


def _nodes(node: Any, *, is_map: bool = False) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for each in node for found in _nodes(each)]
    if not isinstance(node, dict):
        return []
    inner = (
        _nodes(value, is_map=key in MAPS and not is_map)
        for key, value in node.items()
        if is_map or key not in DATA
    )
    return [*([] if is_map else [node]), *(found for each in inner for found in each)]


def _references(schema: Any) -> list[str]:
    return [node["$ref"] for node in _nodes(schema) if isinstance(node.get("$ref"), str)]


def _name(reference: str) -> str:
    return str(steps(reference.removeprefix("#"))[1])


# The result of an ejected operation: its members, and where in the reply each of them is.

_COMPOSED: Final = ("allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "enum", "const")
"""The replies of success that a contract may declare without a schema."""
_WHOLE: Final = "result"
"""The member that holds a reply that is not an object."""
TOO_MANY: Final = f"contains itself, with more than {MAX_DEFINITIONS} definitions around it"
_BODY: Final = "$response.body"


class Unexpressed(Struct, frozen=True):
    """One thing that contract files cannot express."""

    rule: str
    message: str


class MappedResult(Struct, frozen=True, kw_only=True):
    """The result of a tool."""

    schema: dict[str, Any]
    """An object."""
    binding: dict[str, Any] | str
    """As in `x-binding.response`: the value of each member, or the whole body."""
    form: Literal["members", "wrapped", "whole"] = "members"
    """`wrapped`: the reply is the member `result`. `whole`: it is the result."""
    notes: tuple[str, ...] = ()

    def of(self, body: Any) -> dict[str, Any]:
        """The result of a reply with this body."""
        if self.form == "wrapped":
            return {_WHOLE: body}
        if isinstance(self.binding, str):
            return dict(body)
        known = self.schema["properties"]
        nullable = {name for name, each in self.binding.items() if "default" in each}
        return {
            name: value
            for name, value in (body if isinstance(body, dict) else {}).items()
            if name in known and (value is not None or name in nullable)
        }


def successes(operation: ImportedOperation) -> list[ImportedReply]:
    """The declared replies of success."""
    return [each for each in operation.replies if each.status.startswith("2")]


def of_replies(
    operation: ImportedOperation, definitions: Definitions, *, omits_null: bool
) -> Iterator[Unexpressed]:
    """The refusals of the replies of `operation`."""
    found = successes(operation)
    if not found:
        yield Unexpressed("result", "the document declares no reply with a status 2XX")
        return
    if len({(each.kind, str(each.schema)) for each in found}) > 1 or any(
        each.headers for each in found
    ):
        message = "its replies of success have different forms, or their headers are in its result"
        yield Unexpressed("result", message)
        return
    reply = found[0]
    if reply.kind == "empty":
        if any(each.status not in BODILESS for each in found):
            yield Unexpressed("result", f"its reply with status {reply.status} has no content")
        return
    if reply.kind != "json":
        yield Unexpressed("result", f"its result is {reply.media_type}, and contracts read JSON")
        return
    if uses_keyword(definitions.whole(reply.schema), "unevaluatedProperties"):
        yield Unexpressed("schema", "its result uses unevaluatedProperties")
    if name := definitions.unreadable(reply.schema):
        yield Unexpressed("recursive", f"its result contains {name}, which {TOO_MANY}")
        return
    yield from _of_schema(reply.schema, definitions, omits_null=omits_null)


def _of_schema(
    schema: Schema, definitions: Definitions, *, omits_null: bool
) -> Iterator[Unexpressed]:
    kinds = definitions.kinds(schema)
    if kinds > {"object"}:
        yield Unexpressed("result", "its result may be an object or another value")
    elif "null" in kinds:
        yield Unexpressed("null", "its result may be null, which field maps take for nothing")
    elif members := _members(definitions.resolved(schema)):
        properties, required = members
        for name, each in properties.items():
            if name not in required and not omits_null and definitions.admits_null(each):
                yield Unexpressed(
                    "null",
                    f"the member {name} of its result may be null or absent, and contracts do not"
                    " distinguish that",
                )


def _members(root: Schema) -> tuple[dict[str, Schema], set[str]] | None:
    """The members of `root` and the required ones, if it is an object with no other rules."""
    if not isinstance(root, dict) or root.get("type") != "object":
        return None
    properties, required = root.get("properties"), set(root.get("required", ()))
    if any(each in root for each in _COMPOSED) or not properties or required - properties.keys():
        return None
    return properties, required


def result_of(operation: ImportedOperation, definitions: Definitions) -> MappedResult:
    """The result of an operation without refusals."""
    reply = successes(operation)[0]
    if reply.kind == "empty":
        return MappedResult(schema={"properties": {}}, binding={})
    root = definitions.resolved(reply.schema)
    members = _members(root)
    if "object" not in definitions.kinds(reply.schema):
        return MappedResult(
            schema={"required": [_WHOLE], "properties": {_WHOLE: reply.schema}},
            binding={_WHOLE: _BODY},
            form="wrapped",
        )
    if members is None:
        return MappedResult(schema=_listed(root), binding=_BODY, form="whole")
    properties, required = members
    nullable = {name for name, each in properties.items() if definitions.admits_null(each)}
    schema: dict[str, Any] = {"properties": properties}
    if required:
        schema["required"] = sorted(required, key=list(properties).index)
    notes = [f"a null of its member {each} is left out" for each in sorted(nullable - required)]
    if not isinstance(root, dict) or root.get("additionalProperties", True) is not False:
        notes.append("members that the document does not declare are left out of its result")
    binding = {name: _read(name, required, nullable) for name in properties}
    return MappedResult(schema=schema, binding=binding, notes=tuple(notes))


def _listed(root: Schema) -> dict[str, Any]:
    """The schema of a whole result. The reply is checked by the contract of the upstream, so this
    one allows more where clients accept no such root."""
    is_plain = isinstance(root, dict) and not any(each in root for each in (*_COMPOSED, "$ref"))
    return dict(root) if isinstance(root, dict) and is_plain else {}


def _read(name: str, required: set[str], nullable: set[str]) -> Any:
    """Where the member `name` is in a reply."""
    read = f"$response.body#{child('', name)}"
    if name not in required:
        return {"value": read, "omitIfAbsent": True}
    return {"value": read, "default": None} if name in nullable else read


# What contract files cannot express exactly of an imported operation, with its cause.

_JSON: Final = "application/json"
_TYPES: Final = frozenset({"string", "integer", "boolean"})
_OF_THE_GATEWAY: Final = frozenset({"accept", "content-type", "user-agent"})
"""Headers whose values in contracts are the gateway's own."""
_OF_THE_OPERATOR: Final = frozenset({401, 403, 408, 429})
"""Credentials, limits and outages are for the operator, so tools do not declare them."""


def used_errors(operation: ImportedOperation) -> list[DeclaredError]:
    """The declared errors that a call can end with."""
    return [
        each
        for each in operation.errors
        if 400 <= each.status < 500 and each.status not in _OF_THE_OPERATOR
    ]


def of_request(operation: ImportedOperation, definitions: Definitions) -> Iterator[Unexpressed]:
    """The refusals of the request of `operation`."""
    yield from _of_address(operation)
    for parameter in operation.parameters:
        yield from _of_parameter(parameter, operation, definitions)
    if operation.body is not None:
        yield from _of_body(operation.body)
    if uses_keyword(definitions.whole(operation.input_schema), "unevaluatedProperties"):
        yield Unexpressed("schema", "its arguments use unevaluatedProperties")
    if name := definitions.unreadable(operation.input_schema):
        yield Unexpressed("recursive", f"its arguments contain {name}, which {TOO_MANY}")


def _of_address(operation: ImportedOperation) -> Iterator[Unexpressed]:
    if operation.server is not None:
        yield Unexpressed("server", "it has a server of its own")
    if operation.method not in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}:
        yield Unexpressed("method", f"a contract has no method {operation.method}")
    if (
        operation.fixed_query
        or {"%", "?"} & {*operation.path}
        or any(len(PATH_PARAMETER.findall(segment)) > 1 for segment in operation.path.split("/"))
    ):
        yield Unexpressed("path", "its path has escapes, a query, or two parameters in one segment")
    accept = accept_of(operation.replies)
    if accept not in {"", _JSON}:
        yield Unexpressed("accept", f"it asks for {accept}, and contracts ask for {_JSON}")


def _of_parameter(
    parameter: ImportedParameter, operation: ImportedOperation, definitions: Definitions
) -> Iterator[Unexpressed]:
    what = f"the {parameter.location} parameter {parameter.name}"
    if parameter.location not in {"path", "query", "header"}:
        yield Unexpressed("parameter", f"{what} has no place in a contract")
        return
    if parameter.media_type is not None or parameter.allow_reserved:
        yield Unexpressed("parameter", f"{what} has its own serialization")
        return
    schema = definitions.resolved(operation.input_schema["properties"][parameter.member])
    facts: dict[str, Any] = schema if isinstance(schema, dict) else {}
    if parameter.location == "query" and parameter.style == "deepObject":
        return
    if parameter.location == "header" and parameter.name.lower() in _OF_THE_GATEWAY:
        yield Unexpressed("parameter", f"{what} is sent by the gateway itself in contracts")
    elif _is_scalar(facts):
        if parameter.style not in {"simple", "form"}:
            yield Unexpressed("parameter", f"{what} has the style {parameter.style}")
    elif not _is_plain_list(parameter, facts, definitions):
        kind = facts.get("type", "value")
        yield Unexpressed(
            "parameter",
            f"{what} is no plain text ({kind}, style {parameter.style},"
            f" explode {str(parameter.explode).lower()})",
        )


def _is_scalar(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    return isinstance(types, str) and types in _TYPES


def _is_plain_list(
    parameter: ImportedParameter, schema: dict[str, Any], definitions: Definitions
) -> bool:
    """Whether it is sent as one pair for each item, and always has an item."""
    items = definitions.resolved(schema.get("items", True))
    return (
        schema.get("type") == "array"
        and isinstance(items, dict)
        and _is_scalar(items)
        and schema.get("minItems", 0) > 0
        and parameter.location == "query"
        and parameter.style == "form"
        and parameter.explode
    )


def _of_body(body: ImportedBody) -> Iterator[Unexpressed]:
    if (body.kind, body.media_type) not in {("json", _JSON), ("form", FORM)}:
        yield Unexpressed(
            "body", f"its body is {body.media_type}, and contracts send JSON or forms"
        )
    elif body.member is not None:
        yield Unexpressed("body", "its body is not an object with known members")
