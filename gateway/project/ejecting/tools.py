"""The three files of an ejected tool."""

import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.codegen.lowering.sensitive import sensitive_pointers
from gateway.contract.imported import ImportedBody, ImportedOperation
from gateway.contract.operation import Effect
from gateway.contract.policies.limits import NO_TOOL_LIMITS
from gateway.contract.values.pointers import child
from gateway.project.drafts.texts import schema_text
from gateway.project.ejecting.refusals import used_errors
from gateway.project.ejecting.results import successes
from gateway.project.ejecting.schemas import Definitions, tool_schema
from gateway.project.ejecting.upstream import EjectedOperation, yaml_text

_HEAD: Final = """\
# yaml-language-server: $schema=../../_meta/tool.schema.json
# Ejected from an imported document. It is yours now: shape it, and run `gateway lint` and
# `gateway generate` after each change.
"""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
_MAX_TITLE: Final = 60
_MAX_DESCRIPTION: Final = 2000
_ATTEMPTS: Final = {"max": 3, "backoffSeconds": [1, 2]}
"""As the gateway calls imported operations that read."""


class ToolText(Struct, frozen=True, kw_only=True):
    """The contents of the files of a tool."""

    contract: bytes
    arguments: bytes
    result: bytes


class ToolParts(Struct, frozen=True, kw_only=True):
    """What the contract of an ejected tool says."""

    operation: ImportedOperation
    arguments: dict[str, Any]
    result: dict[str, Any]
    output: dict[str, Any]
    """An example of a result."""
    binding: dict[str, Any]
    """`x-binding`."""


def tool_text(parts: ToolParts, examples: tuple[Any, Any]) -> ToolText:
    """The files of the tool. `examples` are two examples of its arguments."""
    operation = parts.operation
    title = _title(operation.title, operation.tool)
    arguments = _titled(f"{title} input", "The arguments.", parts.arguments)
    return ToolText(
        contract=f"{_HEAD}{yaml_text(_contract(parts, examples))}\n".encode(),
        arguments=schema_text(arguments),
        result=schema_text(_titled(f"{title} output", "The result.", parts.result)),
    )


def mapped_parts(each: EjectedOperation, upstream: str, definitions: Definitions) -> ToolParts:
    """The parts of a tool with a field map."""
    result = tool_schema(definitions, {"type": "object", **each.result.schema})
    if each.result.form != "whole":
        result["additionalProperties"] = False
    return ToolParts(
        operation=each.operation,
        arguments=tool_schema(definitions, each.operation.input_schema),
        result=result,
        output=each.result.of(each.reply),
        binding=_binding(each, upstream),
    )


def loses_secrets(operation: ImportedOperation, definitions: Definitions) -> bool:
    """Whether contract files would mark less of the arguments as sensitive."""
    if definitions.recursive(operation.input_schema):
        # Both find them in the same way, by the definitions.
        return False
    marked = _expanded(operation.input_schema, definitions)
    return not set(operation.sensitive) <= set(sensitive_pointers(marked))


def _expanded(schema: Any, definitions: Definitions) -> Any:
    if isinstance(schema, list):
        return [_expanded(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema and isinstance(schema["$ref"], str):
        target = _expanded(definitions.resolved({"$ref": schema["$ref"]}), definitions)
        return {**target, **{name: value for name, value in schema.items() if name != "$ref"}}
    return {name: _expanded(value, definitions) for name, value in schema.items()}


def _titled(title: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    rest = {name: each for name, each in schema.items() if name not in {"title", "description"}}
    return {"title": title, "description": description, **rest}


def _contract(parts: ToolParts, examples: tuple[Any, Any]) -> dict[str, Any]:
    operation = parts.operation
    connector, tool = operation.id.split(".", 1)
    is_read = operation.effect is Effect.READ
    policy: dict[str, Any] = {"effect": str(operation.effect), **_calls(operation)}
    if errors := used_errors(operation):
        policy["errors"] = {
            error.reason: {"status": error.status, "title": _sentence(error.title)}
            for error in errors
        }
    if limits := _limits(operation):
        policy["limits"] = limits
    mcp: dict[str, Any] = {"name": f"{connector}_{tool}"}
    if operation.aliases:
        mcp["aliases"] = list(operation.aliases)
    mcp["annotations"] = {
        "readOnlyHint": is_read,
        "destructiveHint": operation.effect is Effect.DESTROY,
        "idempotentHint": is_read or operation.is_idempotent,
        "openWorldHint": True,
    }
    body = {
        "operationId": operation.id,
        "tags": [connector],
        "summary": _title(operation.title, tool),
        "description": _description(operation),
        "x-mcp": mcp,
        "x-policy": policy,
        "x-binding": parts.binding,
        **_messages(parts, tool, examples),
    }
    return {"post": body}


def _calls(operation: ImportedOperation) -> dict[str, Any]:
    """The time, the attempts and the jobs of the calls of the tool."""
    policy = operation.policy
    seconds = policy.timeout_seconds
    found: dict[str, Any] = {"timeoutSeconds": int(seconds) if seconds.is_integer() else seconds}
    if policy.attempts is not None:
        found["attempts"] = {"max": policy.attempts.max, **msgspec.to_builtins(policy.attempts)}
    elif operation.effect is Effect.READ:
        found["attempts"] = _ATTEMPTS
    if policy.task != "never":
        found["task"] = policy.task
    return found


def _limits(operation: ImportedOperation) -> dict[str, Any]:
    """The limits that `import.yaml` gives the tool. Members with their default are left out."""
    limits = operation.limits or NO_TOOL_LIMITS
    found: dict[str, Any] = {}
    if limits.calls:
        found["calls"] = [msgspec.to_builtins(each) for each in limits.calls]
    if limits.concurrent is not None:
        found["concurrent"] = limits.concurrent
    if limits.cost != NO_TOOL_LIMITS.cost:
        found["cost"] = limits.cost
    return found


def _messages(parts: ToolParts, tool: str, examples: tuple[Any, Any]) -> dict[str, Any]:
    first, second = examples
    output = {"one": {"value": parts.output}}
    problem = {"schema": {"$ref": "../../common/problem.json"}}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": f"./{tool}.input.json"},
                    "examples": {
                        "one": {"summary": "One", "value": first},
                        "another": {"summary": "Another", "value": second},
                    },
                }
            },
        },
        "responses": {
            "200": {
                "description": "As the vendor documents it.",
                "content": {
                    "application/json": {
                        "schema": {"$ref": f"./{tool}.output.json"},
                        "examples": output,
                    }
                },
            },
            "default": {
                "description": "The call failed.",
                "content": {"application/problem+json": problem},
            },
        },
    }


def _binding(each: EjectedOperation, upstream: str) -> dict[str, Any]:
    operation = each.operation
    required = set(operation.input_schema.get("required", ()))
    request: dict[str, dict[str, Any]] = {}
    for parameter in operation.parameters:
        group = request.setdefault(parameter.location, {})
        group[parameter.name] = _argument(parameter.member, is_required=parameter.is_required)
    if operation.body is not None:
        request["body"] = {
            name: _argument(member, is_required=member in required)
            for name, member in _in_order(operation.body)
        }
    found: dict[str, Any] = {"upstream": upstream, "operationId": operation.tool}
    if request:
        found["request"] = request
    found["response"] = {reply.status: each.result.binding for reply in successes(operation)}
    if errors := used_errors(operation):
        found["errors"] = {str(error.status): {"reason": error.reason} for error in errors}
    return found


def _in_order(body: ImportedBody) -> list[tuple[str, str]]:
    """The names and arguments of the members of `body` in the order in which they are sent.

    The record of an import is sorted, so JSON is sent in the order of the arguments.
    """
    ranks = {name: rank for rank, name in enumerate(body.order)}
    members = [(name, member) for member, name in sorted(body.members.items())]
    return sorted(members, key=lambda each: ranks.get(each[0], len(ranks)))


def _argument(member: str, *, is_required: bool) -> Any:
    plain = _PLAIN.fullmatch(member)
    read = f"$inputs.{member}" if plain else f"$inputs#{child('', member)}"
    return read if is_required else {"value": read, "omitIfAbsent": True}


def _title(text: str, tool: str) -> str:
    short = text.strip().rstrip(".")
    if len(short) > _MAX_TITLE:
        short = short[: _MAX_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
    title = short[:1].upper() + short[1:]
    return title if title[:1].isupper() else f"Call {tool}"


def _sentence(text: str) -> str:
    short = " ".join(text.split()).rstrip(".")[:198]
    return f"{short[:1].upper()}{short[1:]}." if short[:1].isalpha() else f"Error: {short[:190]}."


def _description(operation: ImportedOperation) -> str:
    """The vendor's description, after a verb, which the vendor's own text may not begin with."""
    head = f"Call {operation.method} {operation.path}."
    text = operation.description.strip()
    room = _MAX_DESCRIPTION - len(head) - 3
    if len(text) > room:
        text = f"{text[:room].rsplit(' ', 1)[0].rstrip(' .')}…"
    return f"{head} {text}" if text.endswith(".") else f"{head} {text}."
