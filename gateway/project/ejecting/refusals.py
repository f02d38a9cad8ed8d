"""What contract files cannot express exactly of an imported operation, with its cause."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.imported import ImportedBody, ImportedOperation, ImportedParameter
from gateway.contract.operation import DeclaredError
from gateway.contract.upstream import PATH_PARAMETER
from gateway.encoding.bodies import FORM
from gateway.encoding.replies.content import accept_of
from gateway.project.ejecting.results import TOO_MANY, Unexpressed
from gateway.project.ejecting.schemas import Definitions, uses_keyword

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
