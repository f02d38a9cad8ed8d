"""Checks of upstream contracts: names, operations, parameters, replies and examples."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.lint.draft import Draft

_METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_BODILESS: Final = ("204", "205", "304")


class LocatedOperation(Struct, frozen=True, eq=False):
    """One operation of an upstream's contract, with its file and pointer."""

    document: Document
    path: str
    method: str
    pointer: str
    value: dict[str, Any]


def operations(document: Document) -> Iterator[LocatedOperation]:
    """Every operation of a valid upstream document, in file order."""
    for path, item in document.value["paths"].items():
        for method in _METHODS:
            if method in item:
                pointer = child(child("/paths", path), method)
                yield LocatedOperation(document, path, method, pointer, item[method])


def check_names(draft: Draft) -> Iterator[Finding]:
    """upstream/name"""
    for name, document in draft.upstreams.items():
        written = document.value["x-upstream"]["name"]
        if written != name:
            message = f"the name {written} differs from the folder {name}"
            yield draft.finding("upstream/name", document, "/x-upstream/name", message)


def check_operations(draft: Draft) -> Iterator[Finding]:
    """upstream/duplicate-operation, upstream/ambiguous-path"""
    for document in draft.upstreams.values():
        ids: set[str] = set()
        targets: set[tuple[str, str]] = set()
        for operation in operations(document):
            operation_id = operation.value["operationId"]
            target = (operation.method, _VARIABLE.sub("{}", operation.path))
            if operation_id in ids:
                where = child(operation.pointer, "operationId")
                message = f"{operation_id} occurs twice"
                yield draft.finding("upstream/duplicate-operation", document, where, message)
            if target in targets:
                message = "another path of this document matches the same requests"
                yield draft.finding("upstream/ambiguous-path", document, operation.pointer, message)
            ids.add(operation_id)
            targets.add(target)


def check_parameters(draft: Draft) -> Iterator[Finding]:
    """upstream/path-parameter, upstream/duplicate-parameter, ref/dangling"""
    for document in draft.upstreams.values():
        yield from _wrong_targets(draft, document)
        for operation in operations(document):
            yield from _parameters(draft, operation)


def _wrong_targets(draft: Draft, document: Document) -> Iterator[Finding]:
    """Findings about references in lists of parameters whose target is not a parameter."""
    holders = (child("/paths", path) for path in document.value["paths"])
    for holder in (*holders, *(operation.pointer for operation in operations(document))):
        for pointer, parameter in _listed(draft, document, holder):
            if not _is_parameter(parameter):
                message = "the target of the reference is not a parameter"
                yield draft.finding("ref/dangling", document, f"{pointer}/$ref", message)


def _parameters(draft: Draft, operation: LocatedOperation) -> Iterator[Finding]:
    declared: set[tuple[str, str]] = set()
    in_path: set[str] = set()
    for pointer, parameter in declared_parameters(draft, operation):
        key = (parameter["in"], parameter["name"])
        if key in declared and pointer.startswith(operation.pointer):
            message = f"{key[1]} is declared twice"
            yield draft.finding(
                "upstream/duplicate-parameter", operation.document, pointer, message
            )
        declared.add(key)
        if key[0] == "path":
            in_path.add(key[1])
            if key[1] not in _VARIABLE.findall(operation.path):
                message = f"the path has no {{{key[1]}}}"
                yield _path_parameter(draft, operation, pointer, message)
            elif parameter.get("required") is not True:
                message = f"the path parameter {key[1]} is not required"
                yield _path_parameter(draft, operation, pointer, message)
    for name in _VARIABLE.findall(operation.path):
        if name not in in_path:
            message = f"the path parameter {name} is not declared"
            yield _path_parameter(draft, operation, operation.pointer, message)


def _path_parameter(
    draft: Draft, operation: LocatedOperation, pointer: str, message: str
) -> Finding:
    return draft.finding("upstream/path-parameter", operation.document, pointer, message)


def declared_parameters(
    draft: Draft, operation: LocatedOperation
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters of the operation, and those of its path that it does not declare again."""
    around = child("/paths", operation.path)
    own = {_key(each) for each in operation.value.get("parameters", ())}
    for holder in (around, operation.pointer):
        for pointer, parameter in _listed(draft, operation.document, holder):
            is_replaced = holder == around and _key(parameter) in own
            if _is_parameter(parameter) and not is_replaced:
                yield pointer, parameter


def _listed(draft: Draft, document: Document, holder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters at `holder`, without those whose reference cannot be resolved."""
    for index in range(len(draft.at(document, f"{holder}/parameters") or ())):
        pointer = f"{holder}/parameters/{index}"
        parameter = draft.expanded(document.path, pointer)
        if isinstance(parameter, dict):
            yield pointer, parameter


def _is_parameter(value: dict[str, Any]) -> bool:
    """Whether `value` has the members of a parameter. A reference may lead to something else."""
    is_named = all(isinstance(value.get(name), str) for name in ("name", "in"))
    return is_named and "schema" in value


def _key(parameter: Any) -> tuple[Any, Any] | None:
    if not isinstance(parameter, dict) or "name" not in parameter:
        return None
    return parameter.get("in"), parameter["name"]


def check_replies(draft: Draft) -> Iterator[Finding]:
    """upstream/no-reply-schema, upstream/no-example, upstream/example-refused"""
    for document in draft.upstreams.values():
        for operation in operations(document):
            yield from _replies(draft, operation)
            yield from _examples(draft, document, child(operation.pointer, "requestBody"))


def _replies(draft: Draft, operation: LocatedOperation) -> Iterator[Finding]:
    replies = operation.value["responses"]
    if not any(status.startswith("2") for status in replies):
        pointer = child(operation.pointer, "responses")
        message = "no success reply is described"
        yield draft.finding("upstream/no-reply-schema", operation.document, pointer, message)
    for status in replies:
        pointer = child(child(operation.pointer, "responses"), status)
        yield from _examples(draft, operation.document, pointer)
        if status.startswith("2") and status not in _BODILESS:
            yield from _completeness(draft, operation.document, pointer)


def _completeness(draft: Draft, document: Document, pointer: str) -> Iterator[Finding]:
    reply = draft.expanded(document.path, pointer)
    media = [
        facts
        for media_type, facts in (reply or {}).get("content", {}).items()
        if _is_json(media_type) and "schema" in facts
    ]
    if reply is not None and not media:
        message = "the reply has no JSON schema"
        yield draft.finding("upstream/no-reply-schema", document, pointer, message)
    if media and not any("example" in facts or facts.get("examples") for facts in media):
        message = "the reply has no example"
        yield draft.finding("upstream/no-example", document, pointer, message)


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip()
    return essence == "application/json" or essence.endswith("+json")


def _examples(draft: Draft, document: Document, pointer: str) -> Iterator[Finding]:
    """Findings about the examples of the body at `pointer`, unless it is a reference."""
    content = draft.at(document, f"{pointer}/content") or {}
    for media_type, facts in content.items():
        media = child(f"{pointer}/content", media_type)
        validator = draft.validator(document.path, f"{media}/schema")
        for where, value in _values(facts, media):
            for violation in validator.violations(value) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                at = where + violation.pointer
                yield draft.finding("upstream/example-refused", document, at, message)


def _values(facts: dict[str, Any], media: str) -> Iterator[tuple[str, Any]]:
    if "example" in facts:
        yield f"{media}/example", facts["example"]
    for name, example in facts.get("examples", {}).items():
        yield child(child(f"{media}/examples", name), "value"), example["value"]


def check_shared_bodies(draft: Draft) -> Iterator[Finding]:
    """upstream/example-refused"""
    for document in draft.upstreams.values():
        for kind in ("responses", "requestBodies"):
            for name in draft.at(document, f"/components/{kind}") or ():
                yield from _examples(draft, document, child(f"/components/{kind}", name))
