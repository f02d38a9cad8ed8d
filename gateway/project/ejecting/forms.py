"""The two forms of an ejected tool: a field map to an upstream of its own, or a call of the import.

A field map says how each argument is sent, so it can be shaped; whatever it cannot say exactly is
left to the import, which serves all of it.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from gateway.backends.mock.samples.answers import Samples
from gateway.backends.mock.samples.flattening import Flattener
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.project.ejecting.binding import bound_parts
from gateway.project.ejecting.loosening import why_not_allowed
from gateway.project.ejecting.refusals import of_request
from gateway.project.ejecting.results import Unexpressed, of_replies, result_of, successes
from gateway.project.ejecting.schemas import Definitions
from gateway.project.ejecting.tools import (
    ToolParts,
    ToolText,
    loses_secrets,
    mapped_parts,
    tool_text,
)
from gateway.project.ejecting.upstream import EjectedOperation


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
    samples = Samples(schema, connector.definitions, Flattener(connector.definitions))
    return samples.sample(operation.id, seed, is_short=is_short)
