"""The tools of the connector `supabase`: rows of its tables, and the function that scores quotes.

The rows are in the workspace database if it replaces Supabase, otherwise behind PostgREST.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gateway.connectors.supabase.arguments import (
    changes_of,
    filters_of,
    new_rows_of,
    selection_of,
)
from gateway.connectors.supabase.postgrest import UPSTREAM, PostgrestTables
from gateway.connectors.supabase.scores import WEIGHTS, calculate_quote_scores
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall
from gateway.contract.handler import dump
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Row, RowConflict, Tables, TooManyRows
from gateway.contract.values.pointers import child
from gateway.errors import InvalidArguments, InvalidReply, ToolFailed
from generated.models.supabase.delete import DeleteInput, DeleteOutput
from generated.models.supabase.insert import InsertInput, InsertOutput
from generated.models.supabase.query import QueryInput, QueryOutput
from generated.models.supabase.rpc import RpcInput, RpcOutput
from generated.models.supabase.update import UpdateInput, UpdateOutput


@tool_handler
async def query(arguments: QueryInput, context: CallContext) -> QueryOutput:
    """The matching rows of a table, with the requested columns."""
    shape = context.shape(UPSTREAM, arguments.table)
    selection = selection_of(shape, dump(arguments))
    rows = await _tables(context, shape).select(selection)
    return QueryOutput.model_validate(_answer(shape, rows))


@tool_handler
async def insert(arguments: InsertInput, context: CallContext) -> InsertOutput:
    """The rows as stored. Fails with `conflict`."""
    shape = context.shape(UPSTREAM, arguments.table)
    rows = new_rows_of(shape, dump(arguments)["data"])
    with _refusals():
        stored = await _tables(context, shape).insert(shape.table, rows)
    return InsertOutput.model_validate(_answer(shape, stored))


@tool_handler
async def update(arguments: UpdateInput, context: CallContext) -> UpdateOutput:
    """The rows as they are now. Fails with `conflict` and `too_many_rows`."""
    shape = context.shape(UPSTREAM, arguments.table)
    given = dump(arguments)
    filters, values = filters_of(shape, given["filters"]), changes_of(shape, given["data"])
    with _refusals():
        rows = await _tables(context, shape).update(shape.table, filters, values)
    return UpdateOutput.model_validate(_answer(shape, rows))


@tool_handler
async def delete(arguments: DeleteInput, context: CallContext) -> DeleteOutput:
    """The deleted rows. Fails with `conflict` and `too_many_rows`."""
    shape = context.shape(UPSTREAM, arguments.table)
    filters = filters_of(shape, dump(arguments)["filters"])
    with _refusals():
        rows = await _tables(context, shape).delete(shape.table, filters)
    return DeleteOutput.model_validate(_answer(shape, rows))


@tool_handler
async def rpc(arguments: RpcInput, context: CallContext) -> RpcOutput:
    """The scores of quotes: computed here, or by the function installed in the project."""
    params = dump(arguments)["params"]
    weights = {**WEIGHTS, **params.get("weights", {})}
    if sum(weights.values()) <= 0:
        raise InvalidArguments.at("/params/weights", "minimum", "must not all be 0")
    preferences = params.get("client_preferences", {})
    if context.workspace(UPSTREAM) is not None:
        result = calculate_quote_scores(params["quotes"], preferences, weights)
    else:
        result = await _called(context, params["quotes"], preferences, weights)
    return RpcOutput.model_validate({"function": arguments.function, "result": result})


async def _called(
    context: CallContext,
    quotes: Sequence[Row],
    preferences: Mapping[str, Any],
    weights: Mapping[str, float],
) -> Any:
    body = {"quotes": quotes, "client_preferences": preferences, "weights": weights}
    reply = await context.send(UpstreamCall(UPSTREAM, "calculateQuoteScores", body=body))
    return reply.body


@contextmanager
def _refusals() -> Iterator[None]:
    """Converts errors of the tables to the declared errors of the tools."""
    try:
        yield
    except RowConflict:
        raise ToolFailed("conflict") from None
    except TooManyRows:
        raise ToolFailed("too_many_rows") from None


def _tables(context: CallContext, shape: Shape) -> Tables:
    """The tables. Rows that webhooks write are always in the gateway's store."""
    if shape.entity is not None:
        return context.entities.tables(shape)
    return context.workspace(UPSTREAM) or PostgrestTables(context)


def _answer(shape: Shape, rows: Sequence[Row]) -> dict[str, Any]:
    """The result. Raises `InvalidReply` for a stored row that breaks its table's schema."""
    for index, row in enumerate(rows):
        if not shape.admits_stored.admits(row):
            place = child("/rows", index)
            found = shape.admits_stored.violations(row)
            raise InvalidReply(violations=[each.under(place) for each in found])
    return {"rows": rows, "count": len(rows)}
