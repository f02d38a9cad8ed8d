"""The tools that reload the gateway, as `gateway reload` does it: with a signal."""

import os
import signal

from generated.models.conformance.test_trigger_prompt_change import (
    TestTriggerPromptChangeInput,
    TestTriggerPromptChangeOutput,
)
from generated.models.conformance.test_trigger_tool_change import (
    TestTriggerToolChangeInput,
    TestTriggerToolChangeOutput,
)

from gateway.contract.connector import tool_handler

_TEXT = "The gateway reloads."


@tool_handler
async def trigger_tool_change(_: TestTriggerToolChangeInput) -> TestTriggerToolChangeOutput:
    """Reload. A reload notifies of all lists."""
    os.kill(os.getpid(), signal.SIGHUP)
    return TestTriggerToolChangeOutput(text=_TEXT)


@tool_handler
async def trigger_prompt_change(_: TestTriggerPromptChangeInput) -> TestTriggerPromptChangeOutput:
    """The same."""
    os.kill(os.getpid(), signal.SIGHUP)
    return TestTriggerPromptChangeOutput(text=_TEXT)
