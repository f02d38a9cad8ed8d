"""The tools that the official conformance suite calls. The program beside makes a project of it."""

import asyncio
import json
from collections.abc import Mapping

from generated.models.conformance.failing_job import FailingJobInput, FailingJobOutput
from generated.models.conformance.greet import GreetInput, GreetOutput
from generated.models.conformance.protocol_error_job import (
    ProtocolErrorJobInput,
    ProtocolErrorJobOutput,
)
from generated.models.conformance.slow_compute import SlowComputeInput, SlowComputeOutput

from gateway.contract.connector import resource_handler, tool_handler
from gateway.contract.context import CallContext
from gateway.errors import ToolFailed


@tool_handler
async def greet(arguments: GreetInput) -> GreetOutput:
    """A greeting."""
    return GreetOutput(text=f"Hello, {arguments.name}!")


@tool_handler
async def slow_compute(arguments: SlowComputeInput, context: CallContext) -> SlowComputeOutput:
    """The label, after the seconds. A client that asks for its progress learns that it runs."""
    context.progress(0, "Begun")
    await asyncio.sleep(arguments.seconds)
    return SlowComputeOutput(text=f"Computed {arguments.label or 'nothing'}.")


@tool_handler
async def failing_job(_: FailingJobInput) -> FailingJobOutput:
    """Fails with its declared error."""
    await asyncio.sleep(1)
    raise ToolFailed("always_fails")


@tool_handler
async def protocol_error_job(_: ProtocolErrorJobInput) -> ProtocolErrorJobOutput:
    """Has a defect."""
    await asyncio.sleep(0.2)
    raise LookupError("the defect of this fixture")


@resource_handler
async def template_data(variables: Mapping[str, str]) -> str:
    """The data of the id."""
    found = variables["id"]
    return json.dumps({"id": found, "templateTest": True, "data": f"Data for ID: {found}"})
