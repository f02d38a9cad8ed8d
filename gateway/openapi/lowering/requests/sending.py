"""Leaves out what no request can express, or refuses the operation if it needs that."""

from collections.abc import Collection
from typing import Any

import msgspec

from gateway.contract.imported import ImportedOperation
from gateway.encoding.problems import Unsendable, problems
from gateway.openapi.lowering.records import OperationSource, Unservable
from gateway.openapi.lowering.view import DocumentView


def sendable(
    view: DocumentView, source: OperationSource, operation: ImportedOperation
) -> ImportedOperation:
    """`operation` without optional members that no request can express, each with a note.

    Raises `Unservable` if such a member is required, or if it is the whole body.
    """
    found = problems(operation, view.schemas.definitions)
    required = operation.input_schema.get("required", ())
    body = operation.body.member if operation.body else None
    left_out: set[str] = set()
    for each in found:
        rule = f"encoding/{each.rule}"
        if each.is_total and (each.member is None or each.member in {*required, body}):
            raise Unservable(source.pointer, rule, each.message, each.fix)
        view.note(source.pointer, rule, _note(each), each.fix)
        if each.is_total and each.member is not None:
            left_out.add(each.member)
    return _without(operation, left_out) if left_out else operation


def _note(problem: Unsendable) -> str:
    if problem.is_total:
        return f"the argument {problem.member} is left out: {problem.message}"
    return f"values with {problem.pointer} are refused: {problem.message}"


def _without(operation: ImportedOperation, members: Collection[str]) -> ImportedOperation:
    schema = operation.input_schema
    properties = {name: each for name, each in schema["properties"].items() if name not in members}
    changes: dict[str, Any] = {
        "input_schema": schema | {"properties": properties},
        "parameters": tuple(each for each in operation.parameters if each.member not in members),
    }
    if operation.body is not None:
        kept = {
            member: name for member, name in operation.body.members.items() if member not in members
        }
        changes["body"] = msgspec.structs.replace(operation.body, members=kept)
    return msgspec.structs.replace(operation, **changes)
