"""The files of an ejected tool: a field map to an upstream of its own, or a call of the import."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.codegen.lowering import sensitive_pointers
from gateway.authoring.lint.schemas import PROPERTY_NAME, compiles, unportable
from gateway.authoring.openapi.reading.schemas import Schema
from gateway.authoring.project.drafts.texts import schema_text
from gateway.authoring.project.ejecting.results import (
    Definitions,
    Unexpressed,
    described_schema,
    of_replies,
    of_request,
    result_of,
    successes,
    tool_schema,
    used_errors,
    words,
)
from gateway.authoring.project.ejecting.upstream import EjectedOperation, yaml_text
from gateway.backends.mock.replies import ELSEWHERE, body_of, media_type_of, success_of, value_of
from gateway.contract.imported import (
    ImportedBody,
    ImportedConnector,
    ImportedOperation,
    ImportedReply,
)
from gateway.contract.operation import Effect
from gateway.contract.policies.limits import NO_TOOL_LIMITS
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import Reply
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import DATA, MAPS, Validator
from gateway.encoding.replies.content import RESULT
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.profiles.inlining import MAX_SCHEMAS, inlined

# The three files of an ejected tool.

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


# The two forms of an ejected tool: a field map to an upstream of its own, or a call of the import.
#
# A field map says how each argument is sent, so it can be shaped; whatever it cannot say exactly is
# left to the import, which serves all of it.
#
# Tools with contract files that call an operation of an import, without a field map.
#
# Their arguments are those of the operation, and their results are what an import makes of a reply.
#
# Schemas of tools that call an operation of an import, in the form of contract files.
#
# The import checks arguments and replies by its own schemas. So those of the tool may allow more:
# they leave out what contract files refuse, and what makes them too large to be read.

_NEGATIVE: Final = ("not", "if", "then", "else")
_ANNOTATIONS: Final = {"title": str, "description": str, "$comment": str, "examples": list}
_LEAST: Final = 50
_MOST_OBJECTS: Final = 10_000
"""As many as contract files may expand to."""
_DEEPEST: Final = 24
"""The most schemas inside one another. Contract files may nest 32 objects."""


def loosened(
    schema: dict[str, Any], definitions: Definitions, limit: int = MAX_SCHEMAS
) -> dict[str, Any]:
    """The file of `schema`, an object of the document. It allows at least the same values.

    It has at most `limit` subschemas beyond those that are written without a reference.
    """
    whole = definitions.whole(schema)
    root = whole if isinstance(whole, dict) else {}
    while True:
        found = _allowed(definitions.plain(inlined(root, limit)))
        size = Expansion(definitions).of(found)
        if limit <= _LEAST or (size is not None and size[1] <= _DEEPEST):
            return described_schema(found)
        limit //= 2


def why_not_allowed(schema: Schema, definitions: Definitions) -> str | None:
    """Why contract files cannot have `schema` as it is. None if they can, or it is recursive."""
    whole = definitions.plain(definitions.whole(schema))
    if isinstance(whole, dict) and _allowed(whole) != whole:
        return "its schemas use what contract files refuse, such as a pattern with `\\d`"
    size = Expansion(definitions).of(schema)
    if size is not None and (size[0] > _MOST_OBJECTS or size[1] > _DEEPEST):
        return "its schemas are too large for a contract when all references are followed"
    return None


class Expansion:
    """The size of schemas when each reference is replaced by its target."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._known: dict[str, tuple[int, int] | None] = {}

    def of(self, node: Any, *, is_map: bool = False) -> tuple[int, int] | None:
        """The objects, and how many of them are inside one another. None: without end."""
        if isinstance(node, list):
            return _joined([self.of(each) for each in node], 0)
        if not isinstance(node, dict):
            return 0, 0
        if is_map:
            return _joined([self.of(each) for each in node.values()], 0)
        parts = [
            self.of(value, is_map=keyword in MAPS)
            for keyword, value in node.items()
            if keyword not in DATA
        ]
        if isinstance(node.get("$ref"), str):
            parts.append(self._target(node["$ref"]))
        return _joined(parts, 1)

    def _target(self, reference: str) -> tuple[int, int] | None:
        if reference not in self._known:
            # A reference that is met inside its own target has no end.
            self._known[reference] = None
            self._known[reference] = self.of(self._definitions.target(reference))
        return self._known[reference]


def _joined(parts: Sequence[tuple[int, int] | None], own: int) -> tuple[int, int] | None:
    sizes = [each for each in parts if each is not None]
    if len(sizes) < len(parts):
        return None
    return own + sum(each[0] for each in sizes), own + max((each[1] for each in sizes), default=0)


def _allowed(node: Any, *, is_map: bool = False) -> Any:
    """`node` without what contract files refuse. Each part that is left out allows more."""
    if isinstance(node, list):
        return [_allowed(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _allowed(each) for name, each in node.items()}
    found = {
        keyword: value if keyword in DATA else _allowed(value, is_map=keyword in MAPS)
        for keyword, value in node.items()
        if not _is_refused(node, keyword)
    }
    if any(found.get(each) != node.get(each) for each in _NEGATIVE):
        # A looser schema inside `not` and `if` would refuse more.
        found = {name: each for name, each in found.items() if name not in _NEGATIVE}
    return _sound(_named(found))


def _is_refused(node: Mapping[str, Any], keyword: str) -> bool:
    """Whether contract files refuse `keyword` of `node`."""
    value = node[keyword]
    match keyword:
        case "pattern":
            return _is_odd(value)
        case "patternProperties":
            return any(map(_is_odd, value))
        case "additionalProperties" | "unevaluatedProperties":
            # Without the patterns, it would refuse the members that match them.
            return any(map(_is_odd, node.get("patternProperties", ())))
        case "uniqueItems":
            return "maxItems" not in node
        case "multipleOf":
            return isinstance(value, float) and not value.is_integer()
        case _:
            return not isinstance(value, _ANNOTATIONS.get(keyword, object))


def _is_odd(pattern: str) -> bool:
    return unportable(pattern) is not None or not compiles(pattern)


def _named(node: dict[str, Any]) -> dict[str, Any]:
    """`node` without properties whose names clients refuse: they are then undeclared members."""
    known = node.get("properties")
    if not isinstance(known, dict) or all(map(PROPERTY_NAME.fullmatch, known)):
        return node
    kept = {name: each for name, each in known.items() if PROPERTY_NAME.fullmatch(name)}
    found = {**node, "properties": kept}
    found.pop("additionalProperties", None)
    found.pop("unevaluatedProperties", None)
    return found


def _sound(node: dict[str, Any]) -> dict[str, Any]:
    """`node` without the values of its `enum` that it refuses itself."""
    if not isinstance(node.get("enum"), list):
        return node
    try:
        rest = Validator({name: each for name, each in node.items() if name != "enum"})
    except ValueError:
        return node
    return {**node, "enum": [each for each in node["enum"] if rest.admits(each)]}


_SEED: Final = "reply"
_RESULT_SCHEMAS: Final = 300
"""The most subschemas of a result: clients list few of them, and the import checks replies."""
_OTHERS: Final = {
    "text": "text",
    "binary": "content_type",
    "events": "events",
    "redirect": "location",
}
"""The member of a result that shows its form."""


def bound_parts(connector: ImportedConnector, operation: ImportedOperation) -> ToolParts:
    """The parts of the contract. Raises `NoSample` if the operation has no example."""
    definitions = Definitions(connector.definitions)
    binding: dict[str, Any] = {"upstream": connector.connector, "operationId": operation.tool}
    if errors := used_errors(operation):
        binding["errors"] = {str(each.status): {"reason": each.reason} for each in errors}
    return ToolParts(
        operation=operation,
        arguments=loosened(operation.input_schema, definitions),
        result=loosened(_result(connector, operation), definitions, _RESULT_SCHEMAS),
        output=_output(connector, operation),
        binding=binding,
    )


def _result(connector: ImportedConnector, operation: ImportedOperation) -> dict[str, Any]:
    """The schema of results. The import checks replies, so this one shows members and requires
    none that another form of the result lacks."""
    found: dict[str, Any] = {"type": "object"}
    if operation.results == "report":
        return found
    definitions = Definitions(connector.definitions)
    replies = [each for each in operation.replies if each.is_success]
    members: dict[str, list[Any]] = {}
    for reply in replies:
        for name, schema in _members(reply, definitions):
            members.setdefault(name, []).append(schema)
    if members:
        found["properties"] = {
            name: each[0] if all(one == each[0] for one in each) else {"description": words(name)}
            for name, each in members.items()
        }
    if len(replies) == 1 and replies[0].kind == "json" and not replies[0].headers:
        found |= _required(replies[0], definitions, found.get("properties", {}))
    return found


def _members(reply: ImportedReply, definitions: Definitions) -> Iterator[tuple[str, Any]]:
    """The members that a result of `reply` may have. Those of other forms may have any value."""
    if reply.kind != "json":
        if reply.kind in _OTHERS:
            yield _OTHERS[reply.kind], {"description": words(_OTHERS[reply.kind])}
        return
    kinds = definitions.kinds(reply.schema)
    if "object" in kinds:
        root = definitions.resolved(reply.schema)
        known = root.get("properties", {}) if isinstance(root, dict) else {}
        yield from known.items()
    if kinds - {"object"}:
        yield RESULT, reply.schema if "object" not in kinds else {"description": words(RESULT)}


def _required(
    reply: ImportedReply, definitions: Definitions, known: dict[str, Any]
) -> dict[str, Any]:
    """`required` of the only form that results have."""
    kinds = definitions.kinds(reply.schema)
    if "object" not in kinds:
        return {"required": [RESULT]}
    root = definitions.resolved(reply.schema)
    needed = root.get("required", ()) if isinstance(root, dict) and kinds == {"object"} else ()
    names = [each for each in needed if each in known]
    return {"required": names} if names else {}


def _output(connector: ImportedConnector, operation: ImportedOperation) -> dict[str, Any]:
    """An example of a result: what an import makes of a sampled reply."""
    declared = success_of(operation)
    reply = declared.reply
    value = value_of(reply, Schemas(connector.definitions), operation.id, _SEED)
    received = Reply(
        status=declared.status,
        headers={"content-type": media_type_of(reply) or "", "location": ELSEWHERE},
        body=body_of(reply, value),
    )
    decoder = ReplyDecoder(replace(operation, results="report"), connector.definitions)
    found = decoder.result(received)
    if found is None:
        raise NoSample("the document declares no reply of success")
    return found if isinstance(found, dict) else found.facts()


class EjectedTool(Struct, frozen=True, kw_only=True):
    """One operation, and what its contract files are made of."""

    operation: ImportedOperation
    examples: tuple[Any, Any]
    """Two examples of the arguments, the first with the fewest members."""
    form: EjectedOperation | ToolParts
    """With a field map, or what the contract says of a tool that calls the import's operation."""
    reason: str = ""
    """Why there is no field map. Empty: there is one, or none is wanted."""

    @property
    def mapped(self) -> EjectedOperation | None:
        """The operation with a field map. None: the tool calls the operation of the import."""
        return self.form if isinstance(self.form, EjectedOperation) else None


def tool_of(
    connector: ImportedConnector, operation: ImportedOperation, *, omits_null: bool, binds: bool
) -> EjectedTool:
    """What becomes of `operation`. Raises `NoSample` if it has no example.

    `binds`: without a field map, also where one is possible.
    """
    problems = () if binds else problems_of(connector, operation, omits_null=omits_null)
    reason = next((each.message for each in problems), "")
    schema = operation.input_schema
    first = _sample(connector, operation, schema, "one", is_short=True)
    examples = first, _sample(connector, operation, schema, "another")
    if binds or reason:
        parts = bound_parts(connector, operation)
        return EjectedTool(operation=operation, examples=examples, form=parts, reason=reason)
    mapped = _mapped(connector, operation)
    return EjectedTool(operation=operation, examples=examples, form=mapped)


def text_of(connector: ImportedConnector, tool: EjectedTool, upstream: str) -> ToolText:
    """The contract files. `upstream` is that of tools with a field map."""
    if isinstance(tool.form, ToolParts):
        return tool_text(tool.form, tool.examples)
    parts = mapped_parts(tool.form, upstream, Definitions(connector.definitions))
    return tool_text(parts, tool.examples)


def problems_of(
    connector: ImportedConnector, operation: ImportedOperation, *, omits_null: bool
) -> Iterator[Unexpressed]:
    """What a field map cannot express exactly of `operation`."""
    definitions = Definitions(connector.definitions)
    requests = list(of_request(operation, definitions))
    yield from requests
    yield from of_replies(operation, definitions, omits_null=omits_null)
    is_recursive = any(each.rule == "recursive" for each in requests)
    if not is_recursive and loses_secrets(operation, definitions):
        yield Unexpressed("sensitive", "a contract would not mark all of its secret arguments")
    if (mode := operation.results) != "enforce":
        yield Unexpressed("results", f"import.yaml says `results: {mode}`, and contracts enforce")
    schemas = [operation.input_schema, *(each.schema for each in successes(operation))]
    if (why := why_not_allowed({"allOf": schemas}, definitions)) is not None:
        yield Unexpressed("schema", why)


def _mapped(connector: ImportedConnector, operation: ImportedOperation) -> EjectedOperation:
    reply = successes(operation)[0]
    body = None
    if reply.kind == "json":
        body = _sample(connector, operation, reply.schema, "reply")
    definitions = Definitions(connector.definitions)
    return EjectedOperation(
        operation=operation, result=result_of(operation, definitions), reply=body
    )


def _sample(
    connector: ImportedConnector,
    operation: ImportedOperation,
    schema: Any,
    seed: str,
    *,
    is_short: bool = False,
) -> Any:
    samples = Schemas(connector.definitions).samples(schema)
    return samples.sample(operation.id, seed, is_short=is_short)
