"""Tools with contract files that call an operation of an import, without a field map.

Their arguments are those of the operation, and their results are what an import makes of a reply.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from gateway.backends.mock.imported.replies import ELSEWHERE, body_of, media_type_of, success_of
from gateway.backends.mock.samples.answers import Samples
from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.samples.flattening import Flattener
from gateway.contract.imported import ImportedConnector, ImportedOperation, ImportedReply
from gateway.contract.upstream import Reply
from gateway.encoding.replies.content import RESULT
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.project.ejecting.loosening import loosened
from gateway.project.ejecting.refusals import used_errors
from gateway.project.ejecting.schemas import Definitions, words
from gateway.project.ejecting.tools import ToolParts

_SEED: Final = "reply"
_EVENTS: Final = 2
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
    samples = Samples(reply.schema, connector.definitions, Flattener(connector.definitions))
    value: Any = None
    if reply.kind == "events":
        value = [samples.sample(operation.id, _SEED, str(n)) for n in range(_EVENTS)]
    elif reply.kind in {"json", "text"}:
        value = samples.sample(operation.id, _SEED)
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
