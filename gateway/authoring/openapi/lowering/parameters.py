"""The arguments of a tool, one flat object, and its parameters (OpenAPI 3.2 §4.12)."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast
from urllib.parse import parse_qsl

from msgspec import Struct

from gateway.authoring.openapi.lowering.records import DocumentView, OperationSource, Unservable
from gateway.authoring.openapi.reading.schemas import Schema, SchemaLowering
from gateway.contract.imported import ImportedParameter, Location, Style
from gateway.contract.outbound import header_refusal
from gateway.contract.upstream import PATH_PARAMETER
from gateway.contract.values.pointers import child
from gateway.encoding.bodies import FORM
from gateway.encoding.shapes import PRIMITIVES, Shapes
from gateway.encoding.texts import TOKEN

# The arguments of a tool: one flat object of parameters and members of the body.

# Media types: how a body or a reply with one is handled (RFC 9110 §8.3.1, RFC 6839).

MediaKind = Literal["json", "form", "multipart", "text", "xml", "binary", "events", "range", "any"]
"""`any`: the range `*/*`, or one of application types. `range`: any other range."""

LINES: Final = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/stream+json",
    }
)
"""Each line is a JSON value."""
_EVENTS: Final = LINES | {"text/event-stream", "application/json-seq"}
_JSON: Final = frozenset({"application/json", "text/json", "application/x-json"})
_TEXT: Final = frozenset(
    {
        "application/javascript",
        "application/graphql",
        "application/sdp",
        "application/sql",
        "application/toml",
        "application/yaml",
        "application/x-yaml",
    }
)
_ANY: Final = frozenset({"*/*", "application/*", "*"})
_EXACT: Final[dict[str, MediaKind]] = {
    **dict.fromkeys(_EVENTS, "events"),
    **dict.fromkeys(_JSON, "json"),
    **dict.fromkeys(_TEXT, "text"),
    **dict.fromkeys(_ANY, "any"),
    FORM: "form",
    "multipart/form-data": "multipart",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/*": "text",
}


def essence(media_type: str) -> str:
    """`media_type` in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()


def kind_of(media_type: str) -> MediaKind:
    """How content of `media_type` is handled."""
    name = essence(media_type)
    if name in _EXACT:
        return _EXACT[name]
    if name.endswith("+json"):
        return "json"
    if name.endswith(("+xml", "+yaml")):
        return "xml" if name.endswith("+xml") else "text"
    if "*" in name:
        return "range"
    return "text" if name.startswith("text/") else "binary"


# Values that no request can say as null: they are absent instead.

_NULL: Final = {"type": "null"}


def without_null(schema: Schema) -> Schema:
    """The lowered `schema` without null, if it admits other values too.

    A text has no null (OpenAPI 3.2, Appendix B), so a caller who gave one would be refused.
    """
    if isinstance(schema, bool):
        return schema
    found = {**schema, **_other_types(schema), **_other_values(schema)}
    if found.get("default", True) is None:
        del found["default"]
    return _other_branches(found)


def _other_types(schema: dict[str, Any]) -> dict[str, Any]:
    listed = schema.get("type")
    types = [each for each in listed if each != "null"] if isinstance(listed, list) else []
    if not types:
        return {}
    return {"type": types[0] if len(types) == 1 else types}


def _other_values(schema: dict[str, Any]) -> dict[str, Any]:
    values = [each for each in schema.get("enum", ()) if each is not None]
    return {"enum": values} if values else {}


def _other_branches(schema: dict[str, Any]) -> Schema:
    """`schema` without the alternative null. A single alternative that is left is the schema."""
    for keyword in ("anyOf", "oneOf"):
        branches = [each for each in schema.get(keyword, ()) if each != _NULL]
        if not branches or len(branches) == len(schema[keyword]):
            continue
        rest = {name: value for name, value in schema.items() if name != keyword}
        (first, *others) = branches
        if others or isinstance(first, bool) or first.keys() & rest.keys():
            return {**rest, keyword: branches}
        return {**first, **rest}
    return schema


# The arguments of a tool: one flat object of parameters and members of the body.

MAX_MEMBER: Final = 64
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters that clients refuse in names of arguments."""
_MAX_DESCRIPTION: Final = 2000


class Argument(Struct, frozen=True, kw_only=True):
    """One value that the caller gives."""

    name: str
    """The name on the wire. For the whole body, `body`."""
    location: str
    """A location of parameters, or `body`."""
    schema: Schema
    is_required: bool


def described(schema: Schema, holder: Mapping[str, Any]) -> Schema:
    """`schema` with the description of its `holder`, a Parameter or Request Body Object."""
    description = holder.get("description")
    if not isinstance(description, str) or not description.strip():
        return schema
    text = shortened(description)
    return {"description": text} if isinstance(schema, bool) else {**schema, "description": text}


def shortened(text: str, limit: int = _MAX_DESCRIPTION) -> str:
    """`text` without surrounding white space, and at most `limit` characters long."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 2].rstrip()} …"


def member_names(arguments: Sequence[Argument]) -> list[str]:
    """The member of each argument: its name, with its location as suffix if names collide."""
    plain = [cleaned(each.name) for each in arguments]
    counts = Counter(plain)
    wanted = [
        name if counts[name] == 1 else f"{name}_{each.location}"
        for name, each in zip(plain, arguments, strict=True)
    ]
    taken = {name for name in plain if counts[name] == 1}
    numbers: Counter[str] = Counter()
    names: list[str] = []
    for name, before in zip(wanted, plain, strict=True):
        names.append(name if counts[before] == 1 else _free(name, taken, numbers))
    return names


def _free(name: str, taken: set[str], numbers: Counter[str]) -> str:
    """`name`, with a number if it is in `taken`. It is then in `taken`."""
    found = name
    while found in taken:
        # The numbers go on, so that many equal names take no longer than others.
        numbers[name] += 1
        found = f"{name}_{numbers[name] + 1}"
    taken.add(found)
    return found


def collisions(parameters: Iterable[Argument], members: Iterable[str]) -> int:
    """The number of `members` of a body that collide with parameters or with one another."""
    taken = Counter(cleaned(each.name) for each in parameters)
    names = [cleaned(each) for each in members]
    taken.update(names)
    return sum(taken[name] > 1 for name in names)


def cleaned(name: str) -> str:
    """`name` with the characters that clients accept, and at most `MAX_MEMBER` of them."""
    found = _ILLEGAL.sub("_", name)
    if found != name:
        found = found.strip("_") or "value"
    if len(found) <= MAX_MEMBER - 12:
        return found
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{found[: MAX_MEMBER - 19]}_{digest}"


def _labelled(name: str, argument: Argument) -> Schema:
    """The schema of `argument`, which says the name on the wire if the caller's is another one."""
    if name == argument.name or not argument.name.isprintable():
        return argument.schema
    known = {} if isinstance(argument.schema, bool) else argument.schema
    if argument.schema is False:
        return False
    own = known.get("description", "")
    label = f"Sent as `{shortened(argument.name, MAX_MEMBER)}`."
    text = f"{shortened(own, _MAX_DESCRIPTION - len(label))} {label}" if own else label
    return {**known, "description": text}


def input_schema(
    arguments: Sequence[Argument], names: Sequence[str], needed: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The closed object schema of `arguments`. `needed` becomes `dependentRequired`."""
    pairs = list(zip(names, arguments, strict=True))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _labelled(name, each) for name, each in pairs},
    }
    if required := [name for name, each in pairs if each.is_required]:
        schema["required"] = required
    if needed:
        schema["dependentRequired"] = {name: list(others) for name, others in needed.items()}
    return schema | {"additionalProperties": False}


# Whether the members of a body can stand beside the parameters in one flat object.

_TITLES: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "title", "type"}
)
_SHAPE: Final = frozenset({"$ref", "additionalProperties", "allOf", "properties", "required"})
_MAX_DEPTH: Final = 20


class FlatMembers(Struct, frozen=True, kw_only=True):
    """The members of an object schema that has no other rules."""

    properties: Mapping[str, Schema]
    required: tuple[str, ...]


def flat_members(schemas: SchemaLowering, schema: Schema) -> FlatMembers | None:
    """The members of the lowered `schema`.

    None if it is not an object with named members alone: a union, a dictionary, or an object with
    rules for all members together, which would also apply to the parameters.
    """
    properties: dict[str, Schema] = {}
    required: list[str] = []
    schema = schemas.target(schema)
    if isinstance(schema, dict) and schema.get("unevaluatedProperties") is False:
        # The flat object is closed too.
        schema = {name: each for name, each in schema.items() if name != "unevaluatedProperties"}
    parts = list(_parts(schemas, schema, {}, _MAX_DEPTH))
    for part in parts:
        if part is None or not _is_plain(part, is_alone=len(parts) == 1):
            return None
        for name, member in part.get("properties", {}).items():
            known = properties.get(name, member)
            properties[name] = member if known == member else {"allOf": [known, member]}
        required += part.get("required", ())
    if not properties or not set(required) <= properties.keys():
        return None
    return FlatMembers(properties=properties, required=tuple(dict.fromkeys(required)))


def _parts(
    schemas: SchemaLowering, schema: Schema, joined: dict[str, bool], depth: int
) -> Iterator[Mapping[str, Any] | None]:
    """The objects that `schema` joins by `$ref` and allOf. None for a part that is no object.

    `joined`: the references so far, and whether all of each was joined. A second time adds nothing.
    """
    if isinstance(schema, bool) or depth == 0:
        yield None
        return
    reference = schema.get("$ref")
    if reference is not None and not joined.get(reference):
        if reference in joined:
            yield None  # it refers to itself
            return
        joined[reference] = False
        yield from _parts(schemas, schemas.target({"$ref": reference}), joined, depth - 1)
        joined[reference] = True
    for each in schema.get("allOf", ()):
        yield from _parts(schemas, each, joined, depth - 1)
    rest = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    if rest.keys() - _TITLES or not ("$ref" in schema or "allOf" in schema):
        yield rest


def _is_plain(part: Mapping[str, Any], *, is_alone: bool) -> bool:
    if part.keys() - _TITLES - _SHAPE or part.get("type", "object") != "object":
        return False
    if "additionalProperties" not in part:
        return True
    # A closed part of allOf also refuses the members of the other parts.
    return is_alone and part["additionalProperties"] is False


# Parameters: path, query, header and cookie (OpenAPI 3.2 §4.12 Parameter Object).

_STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""The styles of each location. The first one is the default."""
_IGNORED_HEADERS: Final = frozenset({"accept", "authorization", "content-type"})
"""OpenAPI 3.2 §4.12.2.1: Parameter Objects with these names have no effect."""
_OF_CLIENT: Final = frozenset({"accept-encoding", "connection", "content-length", "host"})
"""Headers that the HTTP client sends with the right value, so that no caller has to give them."""
_TEMPLATE: Final = re.compile(r"\{([^{}]+)\}")
_OVERLAY: Final = "correct the parameter with an overlay, or exclude the operation"

Placed = tuple[Argument, ImportedParameter]
"""A parameter and its argument, whose member is not named yet."""


def parameters_of(view: DocumentView, operation: OperationSource) -> list[Placed]:
    """The parameters of `operation` in document order. Raises `Unservable`."""
    _refuse_odd_path(operation)
    if "#" in operation.path:
        message = "the path has a fragment, which is not sent"
        view.note(operation.pointer, "path/fragment", message)
    found = [
        placed
        for pointer, value in _merged(view, operation).values()
        if (placed := _lowered(view, operation, value, pointer)) is not None
    ]
    _refuse_undeclared(operation, found)
    _refuse_two_queries(operation, found)
    return found


def sent_path(operation: OperationSource) -> str:
    """The path template, without a query and without a fragment, which is never sent."""
    return operation.path.partition("#")[0].partition("?")[0]


def fixed_query(operation: OperationSource) -> tuple[tuple[str, str], ...]:
    """The names and values of the fixed parts of a query in the path."""
    return tuple((name, value) for name, value in _query_of(operation) if not _variable(value))


def _query_of(operation: OperationSource) -> list[tuple[str, str]]:
    """The names and values of a query in the path."""
    query = operation.path.partition("#")[0].partition("?")[2]
    return parse_qsl(query, keep_blank_values=True)


def _templates(operation: OperationSource) -> dict[str, str]:
    """The names in the query of the path, by the path parameters that are their values."""
    found = ((name, _variable(value)) for name, value in _query_of(operation))
    return {variable: name for name, variable in found if variable}


def _variable(value: str) -> str | None:
    """The parameter that `value`, of a query in the path, stands for."""
    match = _TEMPLATE.fullmatch(value)
    return match[1] if match else None


def _merged(
    view: DocumentView, operation: OperationSource
) -> dict[tuple[str, str], tuple[str, Mapping[str, Any]]]:
    """The parameters by name and location. Those of the operation replace those of the path."""
    merged: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
    for holder, pointer in (
        (operation.item, operation.item_pointer),
        (operation.value, operation.pointer),
    ):
        own = dict(_listed(view, holder, child(pointer, "parameters")))
        merged |= own
    return merged


def _listed(
    view: DocumentView, holder: Mapping[str, Any], pointer: str
) -> Iterator[tuple[tuple[str, str], tuple[str, Mapping[str, Any]]]]:
    listed = holder.get("parameters")
    seen: dict[tuple[str, str], Mapping[str, Any]] = {}
    for position, node in enumerate(listed if isinstance(listed, list) else ()):
        place = child(pointer, position)
        value, place = view.part(node, place)
        name, location = value.get("name"), value.get("in")
        if not isinstance(name, str) or not name or not isinstance(location, str):
            raise Unservable(
                place, "parameter/malformed", "the parameter has no name or location", _OVERLAY
            )
        # Header names are case-insensitive (RFC 9110 §5.1).
        key = (name.lower() if location == "header" else name, location)
        if key in seen and seen[key] != value:
            message = f"the {location} parameter {name!r} is declared twice"
            raise Unservable(place, "parameter/duplicate", message, _OVERLAY)
        seen[key] = value
        yield key, (place, value)


def _lowered(
    view: DocumentView, operation: OperationSource, value: Mapping[str, Any], pointer: str
) -> Placed | None:
    """The parameter, or None if it is left out with a note."""
    name, location = value["name"], value["in"]
    if location not in {*_STYLES, "querystring"}:
        message = f"there is no location {location!r}"
        raise Unservable(pointer, "parameter/location", message, _OVERLAY)
    in_query = _templates(operation).get(name) if location in {"path", "query"} else None
    if in_query is not None:
        name, location = in_query, "query"
    elif reason := _why_left_out(operation, value):
        has_no_effect = name.lower() in _IGNORED_HEADERS | _OF_CLIENT
        if location == "header" and value.get("required") is True and not has_no_effect:
            raise Unservable(pointer, "parameter/header", reason, _OVERLAY)
        view.note(pointer, "parameter/left-out", f"the parameter is left out: {reason}")
        return None
    is_templated = location == "path" or in_query is not None
    is_required = is_templated or value.get("required") is True
    parameter = ImportedParameter(
        member="",
        name=name,
        location=cast("Location", location),
        is_required=is_required,
        allow_reserved=location == "query" and value.get("allowReserved") is True,
    )
    return _with_value(view, parameter, value, pointer)


def _why_left_out(operation: OperationSource, value: Mapping[str, Any]) -> str | None:
    name, location = value["name"], value["in"]
    if location == "path" and f"{{{name}}}" not in sent_path(operation):
        return f"the path has no {{{name}}}"
    if location == "query" and name in dict(_query_of(operation)):
        return "the path says its value"
    return _why_not_sent(name) if location == "header" else None


def _why_not_sent(header: str) -> str | None:
    """Why the gateway does not send `header` for callers. None if it does."""
    if header.lower() in _IGNORED_HEADERS:
        return f"OpenAPI ignores parameters with the name {header}"
    if header.lower() in _OF_CLIENT:
        return f"the HTTP client sends {header}"
    if not TOKEN.fullmatch(header):
        return f"{header!r} is not the name of a header field"
    return header_refusal(header)


def _with_value(
    view: DocumentView, parameter: ImportedParameter, value: Mapping[str, Any], pointer: str
) -> Placed:
    """`parameter` with its serialization, and its argument."""
    content = value.get("content")
    if isinstance(content, dict) and content:
        media_type, schema = _content(view, content, pointer)
        if parameter.location == "querystring" and media_type == FORM:
            schema = _object_alone(view, schema, pointer)
        parameter = _replaced(parameter, media_type=media_type)
    elif "schema" in value and parameter.location != "querystring":
        schema = without_null(view.lower(value["schema"], "input", child(pointer, "schema")))
        style, explode = _style(parameter.location, value, pointer)
        parameter = _replaced(parameter, style=style, explode=explode)
    else:
        message = f"the parameter {parameter.name!r} has no schema"
        raise Unservable(pointer, "parameter/no-schema", message, _OVERLAY)
    argument = Argument(
        name=parameter.name,
        location=parameter.location,
        schema=described(schema, value),
        is_required=parameter.is_required,
    )
    return argument, parameter


def _content(view: DocumentView, content: Mapping[str, Any], pointer: str) -> tuple[str, Schema]:
    pointer = child(pointer, "content")
    media_type, node = next(iter(content.items()))
    is_form = kind_of(media_type) == "form"
    if len(content) != 1 or not (is_form or kind_of(media_type) in {"json", "text", "any"}):
        message = f"a parameter cannot be serialized as {', '.join(content)}"
        raise Unservable(pointer, "parameter/content", message, _OVERLAY)
    media, place = view.part(node, child(pointer, media_type))
    schema = view.lower(media.get("schema", True), "input", child(place, "schema"))
    if kind_of(media_type) == "any":
        is_text = Shapes(view.schemas.definitions).types(schema) <= PRIMITIVES | {"null"}
        return "text/plain" if is_text else "application/json", schema
    return essence(media_type), schema


def _object_alone(view: DocumentView, schema: Schema, pointer: str) -> Schema:
    """`schema` for objects alone: a form is made of members. Raises `Unservable` without any."""
    types = Shapes(view.schemas.definitions).types(schema)
    if "object" not in types:
        message = "the query is a form, and its schema admits no object"
        raise Unservable(pointer, "parameter/querystring", message, _OVERLAY)
    return schema if types == {"object"} else {"allOf": [schema], "type": "object"}


def _style(location: str, value: Mapping[str, Any], pointer: str) -> tuple[Style, bool]:
    allowed = _STYLES[location]
    style = value.get("style", allowed[0])
    if style not in allowed:
        message = f"a {location} parameter cannot have the style {style!r}"
        raise Unservable(child(pointer, "style"), "parameter/style", message, _OVERLAY)
    explode = value.get("explode", style == "form")
    return cast("Style", style), explode is True


def _replaced(parameter: ImportedParameter, **members: Any) -> ImportedParameter:
    facts = {name: getattr(parameter, name) for name in parameter.__struct_fields__}
    return ImportedParameter(**(facts | members))


def _refuse_odd_path(operation: OperationSource) -> None:
    path = sent_path(operation)
    is_odd = any(
        "{" in name or ("{" in value and not _variable(value))
        for name, value in _query_of(operation)
    )
    if not path.startswith("/") or not operation.path.isprintable() or is_odd:
        message = "the path does not begin with /, or has a parameter inside a value of its query"
        raise Unservable(operation.pointer, "path/malformed", message, _OVERLAY)
    values = (value for _, value in _query_of(operation))
    names = PATH_PARAMETER.findall(path) + [each for each in map(_variable, values) if each]
    bare = PATH_PARAMETER.sub("", path)
    if len(set(names)) != len(names) or "" in names or "{" in bare or "}" in bare:
        message = "the path template names a parameter twice, or has single braces"
        raise Unservable(operation.pointer, "path/malformed", message, _OVERLAY)


def _refuse_undeclared(operation: OperationSource, found: list[Placed]) -> None:
    declared = {(parameter.name, parameter.location) for _, parameter in found}
    needed = [(name, name, "path") for name in PATH_PARAMETER.findall(sent_path(operation))]
    needed += [(name, sent, "query") for name, sent in _templates(operation).items()]
    for name, sent, location in needed:
        if (sent, location) not in declared:
            message, fix = f"the path parameter {name!r} is not declared", _OVERLAY
            if plain := _without_operator(name):
                message += ": OpenAPI knows no operators in paths"
                fix = f"write {{{plain}}} in the path, with an overlay, or exclude the operation"
            raise Unservable(operation.pointer, "parameter/undeclared", message, fix)


def _without_operator(name: str) -> str:
    """The name in a template of a web framework or of RFC 6570. Empty if it is a plain name."""
    plain = name.strip("+*.#/;?&")
    return "" if plain == name else plain


def _refuse_two_queries(operation: OperationSource, found: list[Placed]) -> None:
    locations = [parameter.location for _, parameter in found]
    whole = locations.count("querystring")
    if whole > 1 or (whole and ("query" in locations or fixed_query(operation))):
        message = "querystring is the whole query, so it excludes other query parameters"
        raise Unservable(operation.pointer, "parameter/querystring", message, _OVERLAY)
