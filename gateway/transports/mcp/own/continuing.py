"""Runs the tool that continues results."""

from typing import Final

from gateway.calls.call import Result
from gateway.contract.agent_view import CONTINUE_RESULT
from gateway.publication.continuing import continuing_tools
from gateway.transports.mcp.own.calls import OwnCall
from gateway.transports.mcp.own.offers import OwnKind


async def _resume(call: OwnCall) -> Result:
    return await call.resume(call.values["continuation"])


CONTINUING_KIND: Final = OwnKind(continuing_tools, {CONTINUE_RESULT: _resume})
