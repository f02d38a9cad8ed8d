"""Asks the host of a stdio server over its pipe, in the handshake revisions."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import Request
from pydantic import RootModel, ValidationError

from gateway.calls.asking.errors import InvalidAnswer
from gateway.calls.asking.wire import OpenQuestion
from gateway.contract.operation import Requirement
from gateway.transports.mcp.asking.answering import ANSWER_SECONDS, late, refused
from gateway.transports.mcp.caller import AskClient
from gateway.transports.mcp.protocol import NOTHING, asks_in_handshake
from gateway.transports.mcp.revisions import asked_by, revision_of
from gateway.transports.mcp.task_methods import Context


class _Question(Request[dict[str, Any], str]):
    """Any question. The SDK's own types would add to what the tool asks."""


class _Answer(RootModel[dict[str, Any]]):
    """Any answer. It is checked as all answers are."""


def asks_of_host(ctx: Context) -> frozenset[Requirement]:
    """What the host has declared in `initialize` that it can be asked."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or revision_of(ctx.protocol_version).is_modern:
        return NOTHING
    known = capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
    return asks_in_handshake({"protocolVersion": ctx.protocol_version, "capabilities": known})


def asking_host(ctx: Context) -> AskClient | None:
    """Asks the host. None in the revision in which a call that asks ends with its questions."""
    return None if revision_of(ctx.protocol_version).is_modern else partial(_ask, ctx)


async def _ask(ctx: Context, asked: Mapping[str, OpenQuestion]) -> Mapping[str, Any]:
    """Asks one question after the other. When the time is over, the SDK withdraws the question."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return {key: await _answer(ctx, key, question) for key, question in asked.items()}
    except TimeoutError:
        raise late() from None


async def _answer(ctx: Context, key: str, asked: OpenQuestion) -> dict[str, Any]:
    params = asked_by(revision_of(ctx.protocol_version), asked.params)
    question = _Question(method=asked.method, params=params)
    try:
        answer = await ctx.session.send_request(
            question,  # type: ignore[arg-type]  # any request: the SDK only writes it
            _Answer,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidAnswer(f"The answer to {key} is not valid: {place} {first['msg']}.") from None
    except MCPError as error:
        raise refused(key, error.code, error.message) from None
    return answer.root
