"""The tools that send their clients something besides their results."""

import asyncio

from generated.models.conformance.test_logging_tool import (
    TestLoggingToolInput,
    TestLoggingToolOutput,
)
from generated.models.conformance.test_tool_with_logging import (
    TestToolWithLoggingInput,
    TestToolWithLoggingOutput,
)
from generated.models.conformance.test_tool_with_progress import (
    TestToolWithProgressInput,
    TestToolWithProgressOutput,
)
from generated.models.conformance.test_x_mcp_header import (
    TestXMcpHeaderInput,
    TestXMcpHeaderOutput,
)

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext

_STEP_SECONDS = 0.6
"""Clients are notified at most twice a second."""


@tool_handler
async def tool_with_logging(
    _: TestToolWithLoggingInput, context: CallContext
) -> TestToolWithLoggingOutput:
    """Logs before, during and after."""
    context.log("info", "Tool execution started")
    await asyncio.sleep(0.05)
    context.log("info", "Tool processing data")
    await asyncio.sleep(0.05)
    context.log("info", "Tool execution completed")
    return TestToolWithLoggingOutput(text="Three messages were logged.")


@tool_handler
async def logging_tool(_: TestLoggingToolInput, context: CallContext) -> TestLoggingToolOutput:
    """Logs at the level that most clients ask for."""
    context.log("info", "The tool has run")
    return TestLoggingToolOutput(text="One message was logged.")


@tool_handler
async def tool_with_progress(
    _: TestToolWithProgressInput, context: CallContext
) -> TestToolWithProgressOutput:
    """Reports 0, 50 and 100 of 100."""
    context.progress(0, "Begun", total=100)
    await asyncio.sleep(_STEP_SECONDS)
    context.progress(50, "Half of it is done", total=100)
    await asyncio.sleep(_STEP_SECONDS)
    context.progress(100, "Done", total=100)
    return TestToolWithProgressOutput(text="Three steps were reported.")


@tool_handler
async def x_mcp_header(arguments: TestXMcpHeaderInput) -> TestXMcpHeaderOutput:
    """Repeats the argument that is a header too."""
    return TestXMcpHeaderOutput(text=f"The region is {arguments.region}.")
