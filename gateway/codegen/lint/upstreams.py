"""Upstream contracts: unambiguous, complete, and with examples that a mock may answer."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.codegen.finding import Finding
from gateway.codegen.lint.workspace import Workspace
from gateway.codegen.sources.document import Document
from gateway.contract.pointers import child

_METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_BODILESS: Final = ("204", "205", "304")


class UpstreamPlace(Struct, frozen=True, eq=False):
    """One operation of an upstream's contract."""

    document: Document
    path: str
    method: str
    pointer: str
    value: dict[str, Any]


def operations(document: Document) -> Iterator[UpstreamPlace]:
    """Every operation of a well-shaped upstream document, in file order."""
    for path, item in document.value["paths"].items():
        for method in _METHODS:
            if method in item:
                pointer = child(child("/paths", path), method)
                yield UpstreamPlace(document, path, method, pointer, item[method])


def check_names(workspace: Workspace) -> Iterator[Finding]:
    """upstream/name"""
    for name, document in workspace.upstreams.items():
        written = document.value["x-upstream"]["name"]
        if written != name:
            message = f"{written} lies in the folder {name}"
            yield workspace.finding("upstream/name", document, "/x-upstream/name", message)


def check_operations(workspace: Workspace) -> Iterator[Finding]:
    """upstream/duplicate-operation, upstream/ambiguous-path"""
    for document in workspace.upstreams.values():
        ids: set[str] = set()
        targets: set[tuple[str, str]] = set()
        for operation in operations(document):
            operation_id = operation.value["operationId"]
            target = (operation.method, _VARIABLE.sub("{}", operation.path))
            if operation_id in ids:
                where = child(operation.pointer, "operationId")
                message = f"{operation_id} occurs twice"
                yield workspace.finding("upstream/duplicate-operation", document, where, message)
            if target in targets:
                message = "another path of this document matches the same requests"
                yield workspace.finding(
                    "upstream/ambiguous-path", document, operation.pointer, message
                )
            ids.add(operation_id)
            targets.add(target)


def check_parameters(workspace: Workspace) -> Iterator[Finding]:
    """upstream/path-parameter, upstream/duplicate-parameter"""
    for document in workspace.upstreams.values():
        for operation in operations(document):
            yield from _parameters(workspace, operation)


def _parameters(workspace: Workspace, operation: UpstreamPlace) -> Iterator[Finding]:
    declared: set[tuple[str, str]] = set()
    in_path: set[str] = set()
    for pointer, parameter in declared_parameters(workspace, operation):
        key = (parameter["in"], parameter["name"])
        if key in declared and pointer.startswith(operation.pointer):
            message = f"{key[1]} is declared twice"
            yield workspace.finding(
                "upstream/duplicate-parameter", operation.document, pointer, message
            )
        declared.add(key)
        if key[0] == "path":
            in_path.add(key[1])
            if key[1] not in _VARIABLE.findall(operation.path):
                message = f"the path has no {{{key[1]}}}"
                yield _path_parameter(workspace, operation, pointer, message)
            elif parameter.get("required") is not True:
                message = f"the path parameter {key[1]} is not required"
                yield _path_parameter(workspace, operation, pointer, message)
    for name in _VARIABLE.findall(operation.path):
        if name not in in_path:
            message = f"the path parameter {name} is not declared"
            yield _path_parameter(workspace, operation, operation.pointer, message)


def _path_parameter(
    workspace: Workspace, operation: UpstreamPlace, pointer: str, message: str
) -> Finding:
    return workspace.finding("upstream/path-parameter", operation.document, pointer, message)


def declared_parameters(
    workspace: Workspace, operation: UpstreamPlace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parameters of the path (which an operation may declare anew) and of the operation."""
    around = child("/paths", operation.path)
    own = {_key(each) for each in operation.value.get("parameters", ())}
    for holder in (around, operation.pointer):
        listed = workspace.at(operation.document, f"{holder}/parameters") or ()
        for index in range(len(listed)):
            pointer = f"{holder}/parameters/{index}"
            parameter = workspace.expanded(operation.document.path, pointer)
            is_replaced = holder == around and _key(parameter) in own
            if isinstance(parameter, dict) and not is_replaced and "name" in parameter:
                yield pointer, parameter


def _key(parameter: Any) -> tuple[Any, Any] | None:
    if not isinstance(parameter, dict) or "name" not in parameter:
        return None
    return parameter.get("in"), parameter["name"]


def check_replies(workspace: Workspace) -> Iterator[Finding]:
    """upstream/no-reply-schema, upstream/no-example, upstream/example-refused"""
    for document in workspace.upstreams.values():
        for operation in operations(document):
            yield from _replies(workspace, operation)
            yield from _examples(workspace, document, child(operation.pointer, "requestBody"))


def _replies(workspace: Workspace, operation: UpstreamPlace) -> Iterator[Finding]:
    replies = operation.value["responses"]
    if not any(status.startswith("2") for status in replies):
        pointer = child(operation.pointer, "responses")
        message = "no success reply is described"
        yield workspace.finding("upstream/no-reply-schema", operation.document, pointer, message)
    for status in replies:
        pointer = child(child(operation.pointer, "responses"), status)
        yield from _examples(workspace, operation.document, pointer)
        if status.startswith("2") and status not in _BODILESS:
            yield from _completeness(workspace, operation.document, pointer)


def _completeness(workspace: Workspace, document: Document, pointer: str) -> Iterator[Finding]:
    reply = workspace.expanded(document.path, pointer)
    media = [
        facts
        for media_type, facts in (reply or {}).get("content", {}).items()
        if _is_json(media_type) and "schema" in facts
    ]
    if reply is not None and not media:
        message = "the reply has no JSON schema"
        yield workspace.finding("upstream/no-reply-schema", document, pointer, message)
    if media and not any("example" in facts or facts.get("examples") for facts in media):
        message = "the reply has no example"
        yield workspace.finding("upstream/no-example", document, pointer, message)


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip()
    return essence == "application/json" or essence.endswith("+json")


def _examples(workspace: Workspace, document: Document, pointer: str) -> Iterator[Finding]:
    """Breaks of the examples written directly at a body; shared bodies are examined once each."""
    content = workspace.at(document, f"{pointer}/content") or {}
    for media_type, facts in content.items():
        media = child(f"{pointer}/content", media_type)
        gate = workspace.gate(document.path, f"{media}/schema")
        for where, value in _values(facts, media):
            for violation in gate.violations(value) if gate else ():
                message = f"the schema refuses this example: {violation.detail}"
                place = where + violation.pointer
                yield workspace.finding("upstream/example-refused", document, place, message)


def _values(facts: dict[str, Any], media: str) -> Iterator[tuple[str, Any]]:
    if "example" in facts:
        yield f"{media}/example", facts["example"]
    for name, example in facts.get("examples", {}).items():
        yield child(child(f"{media}/examples", name), "value"), example["value"]


def check_shared_bodies(workspace: Workspace) -> Iterator[Finding]:
    """upstream/example-refused"""
    for document in workspace.upstreams.values():
        for kind in ("responses", "requestBodies"):
            for name in workspace.at(document, f"/components/{kind}") or ():
                yield from _examples(workspace, document, child(f"/components/{kind}", name))
