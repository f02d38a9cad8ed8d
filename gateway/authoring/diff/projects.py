"""What a folder of contracts offers: its tools, webhooks, events, and the upstreams it calls."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gateway.authoring.codegen.ir import (
    Contracts,
    EventContract,
    ImportedContract,
    ImportedTool,
    Model,
    ToolContract,
    WebhookContract,
)
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.refs import origin
from gateway.authoring.contracts.tree import SourceTree
from gateway.authoring.diff.changes import ChangePlace, Direction
from gateway.authoring.diff.prepared import encoded, evaluates, prepared
from gateway.authoring.diff.surface import ExchangedSchema, Locate, Subject
from gateway.contract.values.pointers import NoSuchPlace, parent


def subjects_of(contracts: Contracts, tree: SourceTree) -> Iterator[Subject]:
    """The subjects of the contracts that were lowered from `tree`."""
    for tool in contracts.tools:
        yield _tool(tool, tree)
    for webhook in contracts.webhooks:
        yield from _webhook(webhook, tree)
    for event in contracts.events:
        yield _event(event, tree)
    for document in contracts.imported:
        raw = (*document.definitions.values(), *(each.input_schema for each in document.operations))
        is_evaluated = any(evaluates(bytes(each)) for each in raw)
        definitions = _definitions(document.decoded_definitions(), is_evaluated=is_evaluated)
        for operation in document.operations:
            yield _imported(document, operation, definitions, is_evaluated=is_evaluated)


def _tool(tool: ToolContract, tree: SourceTree) -> Subject:
    return Subject(
        name=tool.id,
        kind="tool",
        place=ChangePlace(str(tool.source.path), ""),
        parts=_parts(
            _part("arguments", Direction.TOOL_INPUT, tool.input_schema, tool.input_model, tree),
            _part("result", Direction.TOOL_OUTPUT, tool.output_schema, tool.output_model, tree),
        ),
    )


def _webhook(webhook: WebhookContract, tree: SourceTree) -> Iterator[Subject]:
    for payload in webhook.payloads:
        part = _part("payload", Direction.WEBHOOK, payload.schema, payload.model, tree)
        yield Subject(
            name=f"{webhook.provider} {payload.type}",
            kind="webhook",
            place=ChangePlace(str(webhook.source.path), ""),
            parts=_parts(part),
        )


def _event(event: EventContract, tree: SourceTree) -> Subject:
    return Subject(
        name=event.event.type,
        kind="event",
        place=ChangePlace(str(event.source.path), ""),
        parts=_parts(_part("event", Direction.EVENT, event.event.schema, event.model, tree)),
    )


def _imported(
    document: ImportedContract,
    tool: ImportedTool,
    definitions: Mapping[str, Any],
    *,
    is_evaluated: bool,
) -> Subject:
    place = ChangePlace(f"upstreams/{document.connector}", "")
    result = tool.published_results(document.decoded_definitions())
    return Subject(
        name=tool.id,
        kind="tool",
        place=place,
        parts=_parts(
            ExchangedSchema(
                name="arguments",
                direction=Direction.TOOL_INPUT,
                schema=prepared(tool.decoded_schema(), is_evaluated=is_evaluated),
                definitions=definitions,
                locate=lambda _: place,
            ),
            _exchange("result", Direction.TOOL_OUTPUT, result, lambda _: place),
        ),
    )


def _part(
    name: str, direction: Direction, schema: dict[str, Any], model: Model, tree: SourceTree
) -> ExchangedSchema:
    return _exchange(name, direction, schema, _locate(tree, model.path, model.pointer))


def _exchange(
    name: str, direction: Direction, schema: dict[str, Any], locate: Locate
) -> ExchangedSchema:
    """The exchange of a schema with its definitions."""
    is_evaluated = evaluates(encoded(schema))
    return ExchangedSchema(
        name=name,
        direction=direction,
        schema=prepared(_without_definitions(schema), is_evaluated=is_evaluated),
        definitions=_definitions(schema.get("$defs", {}), is_evaluated=is_evaluated),
        locate=locate,
    )


def _locate(tree: SourceTree, path: PurePosixPath, pointer: str) -> Locate:
    """Where the parts of a dereferenced schema are written, also behind references."""

    def place(at: str) -> ChangePlace:
        while True:
            try:
                found = origin(tree, tree.documents[path], pointer, at)
                return ChangePlace(str(found.document.path), found.pointer)
            except (NoSuchPlace, ContractRefused):
                if not at:
                    return ChangePlace(str(path), pointer)
                at = parent(at)

    return place


def _parts(*parts: ExchangedSchema) -> dict[str, ExchangedSchema]:
    return {part.name: part for part in parts}


def _without_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in schema.items() if name != "$defs"}


def _definitions(schemas: Mapping[str, Any], *, is_evaluated: bool) -> dict[str, Any]:
    return {name: prepared(each, is_evaluated=is_evaluated) for name, each in schemas.items()}
