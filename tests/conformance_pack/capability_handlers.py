"""The tools of the official conformance suite that look at what clients declare."""

from generated.models.conformance.test_missing_capability import (
    TestMissingCapabilityInput,
    TestMissingCapabilityOutput,
)
from generated.models.conformance.test_streaming_elicitation import (
    TestStreamingElicitationInput,
    TestStreamingElicitationOutput,
)

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext


@tool_handler
async def missing_capability(
    _: TestMissingCapabilityInput, context: CallContext
) -> TestMissingCapabilityOutput:
    """What the model says."""
    answer = await context.sample("What is the capital of France?", max_tokens=100)
    return TestMissingCapabilityOutput(text=answer.text[:400])


@tool_handler
async def streaming_elicitation(
    _: TestStreamingElicitationInput, context: CallContext
) -> TestStreamingElicitationOutput:
    """Says whether the user has confirmed."""
    form = {"type": "object", "properties": {"confirmed": {"type": "boolean"}}}
    answer = await context.ask("Do you confirm?", form)
    return TestStreamingElicitationOutput(text=f"The user chose to {answer.action}.")
