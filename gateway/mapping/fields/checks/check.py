"""Checks a binding against the contracts of its tool and its upstream."""

from collections.abc import Iterator
from typing import Final

from gateway.contract.schemas.shapes import required_of
from gateway.contract.upstream import UpstreamOperation
from gateway.contract.values.nearest import did_you_mean
from gateway.mapping.fields.analysis.targets import (
    maps,
    template_names,
    unsupported_styles,
)
from gateway.mapping.fields.analysis.walk import request_visits, result_visits
from gateway.mapping.fields.checks.gaps import gaps
from gateway.mapping.fields.checks.values import check_context
from gateway.mapping.fields.language.nodes import (
    BindingSource,
    DocumentCall,
    ErrorMeaning,
    HandlerMap,
    HttpMap,
    MappingError,
    WrittenBinding,
    problem,
)
from gateway.mapping.fields.language.parse import parse

_OF_OPERATOR: Final = frozenset({"401", "403", "408", "429"})
"""Credentials, limits and outages."""


def check(binding: BindingSource) -> list[MappingError]:
    """Every problem of a binding, including gaps, in the order of the contract."""
    written, problems = parse(binding.x_binding)
    if written is None:
        return list(problems)
    found = meaning_problems(binding, written)
    return [*found, *gaps(binding, written)] if isinstance(written, HttpMap) else found


def meaning_problems(binding: BindingSource, written: WrittenBinding) -> list[MappingError]:
    """The problems that make it impossible to compile a binding."""
    if isinstance(written, HandlerMap):
        return []
    if isinstance(written, DocumentCall):
        return [*_call_problems(binding, written)]
    upstream = binding.upstream
    if upstream is None or upstream.name != written.upstream:
        return [
            problem(
                "/upstream",
                "unknown-upstream",
                "no upstream has this name",
                "name a folder of schemas/upstreams",
            )
        ]
    return [found for part in maps(written) for found in _map_problems(part, binding)]


def _call_problems(binding: BindingSource, written: DocumentCall) -> Iterator[MappingError]:
    if binding.upstream is not None:
        yield problem(
            "",
            "field-map",
            f"{written.upstream} is a contract, whose operations are called with a field map",
            "map the request and the response",
        )
    for status, meaning in written.errors.items():
        yield from _error_problems(meaning, binding)
        if meaning.result is not None or not is_of_caller(status):
            yield problem(
                meaning.pointer,
                "field-map",
                "without a field map, errors are reasons for statuses of the caller's mistakes",
                "name a status of 4XX, but not 401, 403, 408 or 429, with its reason",
            )


def is_of_caller(status: str) -> bool:
    """Whether `status` may be a declared error of an import. The others are for the operator."""
    return status.startswith("4") and status not in _OF_OPERATOR


def _map_problems(written: HttpMap, binding: BindingSource) -> Iterator[MappingError]:
    upstream = binding.upstream
    operation = upstream.find(written.operation) if upstream else None
    if operation is None:
        yield problem(
            f"{written.pointer}/operationId",
            "unknown-operation",
            f"{binding.x_binding.get('upstream')} has no operation {written.operation}",
            did_you_mean(
                written.operation, [each.id for each in upstream.operations] if upstream else []
            )
            or "name an operationId of the upstream's openapi.yaml",
        )
        return
    yield from _operation_problems(written, operation)
    yield from _status_problems(written, operation)
    for meaning in written.errors.values():
        yield from _error_problems(meaning, binding)
    for context in request_visits(written, binding, operation):
        yield from check_context(context)
    for context in result_visits(written, binding, operation):
        yield from check_context(context)


def _operation_problems(written: HttpMap, operation: UpstreamOperation) -> Iterator[MappingError]:
    undeclared = set(template_names(operation.path)) ^ {
        str(raw.get("name")) for raw in operation.parameters if raw.get("in") == "path"
    }
    for name in sorted(undeclared):
        yield problem(
            f"{written.pointer}/operationId",
            "path-template",
            f"{name!r} is not both in the upstream's path and a path parameter",
            "declare one path parameter for every {name} of the path, in the upstream contract",
        )
    for name in unsupported_styles(operation, written):
        yield problem(
            f"{written.pointer}/request/{name}",
            "unsupported-style",
            "the upstream declares a parameter style that field maps do not support",
            "use style form or deepObject in queries, simple in paths and headers",
        )
    if written.body is not None and operation.request_schema is None:
        yield problem(
            f"{written.pointer}/request/body",
            "unknown-member",
            "the upstream operation has no JSON body",
            "remove the body, or declare it in the upstream contract",
        )
    if written.body is None and required_of(operation.request_schema or {}):
        yield problem(
            f"{written.pointer}/request",
            "member-unmapped",
            "the upstream operation needs a JSON body, and none is mapped",
            "map it under body",
        )


def _status_problems(written: HttpMap, operation: UpstreamOperation) -> Iterator[MappingError]:
    at = f"{written.pointer}/response"
    for status in written.results:
        if status not in operation.replies:
            yield problem(
                f"{at}/{status}",
                "unknown-status",
                "the upstream contract does not declare this status",
                "declare it there, or map a declared status",
            )
    for status in operation.replies:
        if status.startswith("2") and status not in written.results:
            yield problem(
                at,
                "status-unmapped",
                f"the upstream may reply with {status}, which is not mapped",
                f'map "{status}"',
            )


def _error_problems(meaning: ErrorMeaning, binding: BindingSource) -> Iterator[MappingError]:
    if meaning.reason is not None and meaning.reason not in binding.declared_errors:
        yield problem(
            f"{meaning.pointer}/reason",
            "unknown-error",
            "the tool declares no error of this name",
            "declare it under x-policy.errors",
        )
