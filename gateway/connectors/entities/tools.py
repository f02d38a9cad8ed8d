"""The tools of the connector `entities`: rows that webhooks wrote, in pages."""

from typing import Any, Final

from pydantic import BaseModel

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from generated.models.entities.bookings import BookingsInput, BookingsOutput
from generated.models.entities.conversations import ConversationsInput, ConversationsOutput
from generated.models.entities.messages import MessagesInput, MessagesOutput
from generated.models.entities.operator_profiles import (
    OperatorProfilesInput,
    OperatorProfilesOutput,
)
from generated.models.entities.quotes import QuotesInput, QuotesOutput
from generated.models.entities.requests import RequestsInput, RequestsOutput
from generated.models.entities.trips import TripsInput, TripsOutput

_LIMIT: Final = 50


@tool_handler
async def bookings(arguments: BookingsInput, context: CallContext) -> BookingsOutput:
    """One page of bookings. Raises `InvalidArguments` for a cursor of another query."""
    return BookingsOutput.model_validate(await _page("bookings", arguments, context))


@tool_handler
async def conversations(arguments: ConversationsInput, context: CallContext) -> ConversationsOutput:
    """One page of conversations. Raises `InvalidArguments` for a cursor of another query."""
    return ConversationsOutput.model_validate(await _page("conversations", arguments, context))


@tool_handler
async def messages(arguments: MessagesInput, context: CallContext) -> MessagesOutput:
    """One page of messages. Raises `InvalidArguments` for a cursor of another query."""
    return MessagesOutput.model_validate(await _page("messages", arguments, context))


@tool_handler
async def operator_profiles(
    arguments: OperatorProfilesInput, context: CallContext
) -> OperatorProfilesOutput:
    """One page of operator profiles. Raises `InvalidArguments` for a cursor of another query."""
    return OperatorProfilesOutput.model_validate(
        await _page("operator_profiles", arguments, context)
    )


@tool_handler
async def quotes(arguments: QuotesInput, context: CallContext) -> QuotesOutput:
    """One page of quotes. Raises `InvalidArguments` for a cursor of another query."""
    return QuotesOutput.model_validate(await _page("quotes", arguments, context))


@tool_handler
async def requests(arguments: RequestsInput, context: CallContext) -> RequestsOutput:
    """One page of requests. Raises `InvalidArguments` for a cursor of another query."""
    return RequestsOutput.model_validate(await _page("requests", arguments, context))


@tool_handler
async def trips(arguments: TripsInput, context: CallContext) -> TripsOutput:
    """One page of trips. Raises `InvalidArguments` for a cursor of another query."""
    return TripsOutput.model_validate(await _page("trips", arguments, context))


async def _page(kind: str, arguments: BaseModel, context: CallContext) -> dict[str, Any]:
    filters = dump(arguments)
    limit, cursor = filters.pop("limit", _LIMIT), filters.pop("cursor", None)
    items, following = await context.entities.page(kind, filters, limit, cursor)
    return {"items": items, "next_cursor": following}
