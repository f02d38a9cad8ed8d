"""The two forms of an ejected tool: a field map to an upstream of its own, or a call of the import.

A field map says how each argument is sent, so it can be shaped; whatever it cannot say exactly is
left to the import, which serves all of it.

Tools with contract files that call an operation of an import, without a field map.

Their arguments are those of the operation, and their results are what an import makes of a reply.

Schemas of tools that call an operation of an import, in the form of contract files.

The import checks arguments and replies by its own schemas. So those of the tool may allow more:
they leave out what contract files refuse, and what makes them too large to be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.mock.replies import ELSEWHERE, body_of, media_type_of, success_of, value_of
from gateway.backends.mock.samples import Schemas
from gateway.backends.mock.schemas import NoSample
from gateway.contract.imported import ImportedConnector, ImportedOperation, ImportedReply
from gateway.contract.upstream import Reply
from gateway.contract.values.schema import DATA, MAPS, Validator
from gateway.encoding.replies.content import RESULT
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.lint.schemas import PROPERTY_NAME, compiles, unportable
from gateway.openapi.reading.schemas import Schema
from gateway.profiles.inlining import MAX_SCHEMAS, inlined
from gateway.project.ejecting.refusals import of_request, used_errors
from gateway.project.ejecting.results import Unexpressed, of_replies, result_of, successes
from gateway.project.ejecting.schemas import Definitions, described_schema, words
from gateway.project.ejecting.tools import (
    ToolParts,
    ToolText,
    loses_secrets,
    mapped_parts,
    tool_text,
)
from gateway.project.ejecting.upstream import EjectedOperation

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
