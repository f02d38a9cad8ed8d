"""The operations that ejected tools call, in the contract of an upstream, with credentials."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.yamltext import written
from gateway.authoring.project.ejecting.results import (
    Definitions,
    MappedResult,
    successes,
    upstream_schema,
    used_errors,
)
from gateway.authoring.project.merging import with_entries, with_nested
from gateway.contract.imported import BodyField, ImportedConnector, ImportedOperation
from gateway.contract.slots import CredentialSlot
from gateway.errors import ConfigurationError

# The credentials of an ejected operation, in the form of the contract of an upstream.

_FLOWS: Final = {"client_credentials": "clientCredentials", "refresh_token": "authorizationCode"}


def security_of(operation: ImportedOperation) -> list[dict[str, list[str]]]:
    """The Security Requirement Objects of `operation`. Empty: it needs no credentials."""
    return [{use.slot: list(use.scopes) for use in uses} for uses in operation.security]


def schemes_of(
    connector: ImportedConnector, operations: Iterable[ImportedOperation]
) -> dict[str, Any]:
    """The Security Scheme Objects that `operations` name, by name."""
    used = {use.slot for each in operations for uses in each.security for use in uses}
    return {slot.name: _scheme(slot) for slot in connector.slots if slot.name in used}


def _scheme(slot: CredentialSlot) -> dict[str, Any]:
    described = {"description": slot.description} if slot.description.strip() else {}
    match slot.kind:
        case "api_key":
            place = slot.location or "header"
            return {"type": "apiKey", **described, "in": place, "name": slot.key_name}
        case "mutual_tls":
            return {"type": "mutualTLS", **described}
        case "oauth2":
            return {"type": "oauth2", **described, "flows": _flows(slot)}
        case _:
            return {"type": "http", **described, "scheme": slot.kind}


def _flows(slot: CredentialSlot) -> dict[str, Any]:
    if slot.flow is None:
        return {}
    return {_FLOWS[slot.flow]: {"tokenUrl": slot.token_url, "scopes": {}}}


# The operations that ejected tools call, in the contract of an upstream.

_HEAD: Final = """\
# yaml-language-server: $schema=../../_meta/upstream.schema.json
# Ejected from an imported document. It is yours now: edit it, and run `gateway lint` and
# `gateway generate` after each change.
"""


class EjectedOperation(Struct, frozen=True, kw_only=True):
    """An operation with what its contract files need."""

    operation: ImportedOperation
    result: MappedResult
    reply: Any
    """An example of the body of a reply. None without a body."""


def yaml_text(value: Any) -> str:
    """`value` as YAML in block style, without a line feed at its end."""
    return "\n".join(written(value).splitlines())


def operation_value(each: EjectedOperation, definitions: Definitions) -> dict[str, Any]:
    """The Operation Object."""
    operation = each.operation
    properties = operation.input_schema["properties"]
    found: dict[str, Any] = {"operationId": operation.tool, "summary": operation.title}
    if operation.parameters:
        found["parameters"] = [
            {
                "name": parameter.name,
                "in": parameter.location,
                "required": parameter.is_required,
                **({"style": parameter.style} if parameter.style == "deepObject" else {}),
                "schema": upstream_schema(definitions, properties[parameter.member]),
            }
            for parameter in operation.parameters
        ]
    if operation.body is not None:
        members = operation.body.members
        required = set(operation.input_schema.get("required", ()))
        schema = {
            "type": "object",
            "required": [name for member, name in members.items() if member in required],
            "properties": {
                name: upstream_schema(definitions, properties[member])
                for member, name in members.items()
            },
        }
        media: dict[str, Any] = {"schema": schema}
        if encoding := {each.name: _encoding(each) for each in operation.body.fields}:
            media["encoding"] = encoding
        found["requestBody"] = {
            "required": operation.body.is_required,
            "content": {operation.body.media_type: media},
        }
    if operation.security:
        found["security"] = security_of(operation)
    return {**found, "responses": _responses(each, definitions)}


def _encoding(field: BodyField) -> dict[str, Any]:
    """The Encoding Object of a member of a form."""
    if field.style is None:
        return {"contentType": field.media_type}
    reserved = {"allowReserved": True} if field.allow_reserved else {}
    return {"style": field.style, "explode": field.explode, **reserved}


def _responses(each: EjectedOperation, definitions: Definitions) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for reply in successes(each.operation):
        found[reply.status] = {"description": "As the vendor documents it."}
        if reply.kind == "json":
            content = {"schema": upstream_schema(definitions, reply.schema), "example": each.reply}
            found[reply.status]["content"] = {"application/json": content}
    for error in used_errors(each.operation):
        found[str(error.status)] = {"description": error.title}
    return found


def upstream_text(
    name: str,
    connector: ImportedConnector,
    ejected: Sequence[EjectedOperation],
) -> str:
    """The contract of a new upstream."""
    definitions = Definitions(connector.definitions)
    paths: dict[str, Any] = {}
    for each in ejected:
        item = paths.setdefault(each.operation.path, {})
        item[each.operation.method.lower()] = operation_value(each, definitions)
    value: dict[str, Any] = {
        "openapi": "3.1.1",
        "info": {"title": connector.title, "version": "1"},
        "x-upstream": {
            "name": name,
            "title": connector.title,
            "baseUrl": connector.base_url,
        },
        "paths": paths,
    }
    if components := _components(connector, ejected):
        value["components"] = components
    return f"{_HEAD}{yaml_text(value)}\n"


def extended_text(
    text: str,
    document: Document,
    connector: ImportedConnector,
    ejected: Sequence[EjectedOperation],
) -> str:
    """`text`, the contract `document` of an upstream, with more operations.

    Raises `ConfigurationError` if that is of another API, or has one of the operations.
    """
    _refuse_another(document, connector)
    text = _with_operations(text, document, ejected, Definitions(connector.definitions))
    known = document.value.get("components", {})
    for section, parts in _components(connector, ejected).items():
        text = _with_parts(text, str(document.path), known, section, parts)
        known = {**known, section: parts}
    return text


def _refuse_another(document: Document, connector: ImportedConnector) -> None:
    own = document.value["x-upstream"]
    if own["baseUrl"] != connector.base_url or any(map(own.get, ("headers", "query"))):
        raise ConfigurationError(
            f"{document.path} has another base URL, or sends headers or parameters with every"
            " request; choose another --upstream"
        )


def _with_operations(
    text: str,
    document: Document,
    ejected: Sequence[EjectedOperation],
    definitions: Definitions,
) -> str:
    file = str(document.path)
    known: dict[str, Any] = document.value["paths"]
    for each in ejected:
        method, path = each.operation.method.lower(), each.operation.path
        if method in known.get(path, {}):
            raise ConfigurationError(
                f"{file} has {each.operation.method} {path}; choose another --upstream"
            )
        value = {method: operation_value(each, definitions)}
        if path in known:
            text = with_nested(text, ("paths", path), [yaml_text(value)], file)
        else:
            text = with_entries(text, "paths", [yaml_text({path: value})], file)
        known = {**known, path: {**known.get(path, {}), **value}}
    return text


def _with_parts(
    text: str,
    file: str,
    known: Mapping[str, Mapping[str, Any]],
    section: str,
    parts: Mapping[str, Any],
) -> str:
    """`text` with `parts` in this section of its components, which are `known`."""
    have = known.get(section, {})
    if changed := [name for name, each in parts.items() if have.get(name, each) != each]:
        raise ConfigurationError(
            f"{file} has another {changed[0]} in components/{section}; choose another --upstream"
        )
    new = {name: each for name, each in parts.items() if name not in have}
    if not new:
        return text
    if not have:
        return with_entries(text, "components", [yaml_text({section: new})], file)
    return with_nested(text, ("components", section), [yaml_text(new)], file)


def _components(
    connector: ImportedConnector, ejected: Sequence[EjectedOperation]
) -> dict[str, dict[str, Any]]:
    """The sections of components that are not empty."""
    definitions = Definitions(connector.definitions)
    schemas = [each.operation.input_schema for each in ejected]
    replies = [reply.schema for each in ejected for reply in successes(each.operation)]
    needed = definitions.needed({"allOf": [*schemas, *replies]})
    found = {
        "securitySchemes": schemes_of(connector, (each.operation for each in ejected)),
        "schemas": {name: upstream_schema(definitions, each) for name, each in needed.items()},
    }
    return {section: parts for section, parts in found.items() if parts}
