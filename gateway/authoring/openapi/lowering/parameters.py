"""Parameters: path, query, header and cookie (OpenAPI 3.2 §4.12 Parameter Object)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from gateway.authoring.openapi.lowering.arguments import (
    FORM,
    Argument,
    described,
    essence,
    kind_of,
    without_null,
)
from gateway.authoring.openapi.lowering.records import DocumentView, OperationSource, Unservable
from gateway.authoring.openapi.reading.schemas import Schema
from gateway.contract.imported import ImportedParameter, Location, Style
from gateway.contract.outbound import header_refusal
from gateway.contract.upstream import PATH_PARAMETER
from gateway.contract.values.pointers import child
from gateway.encoding.shapes import PRIMITIVES, Shapes

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
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
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
    if not _TOKEN.fullmatch(header):
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
