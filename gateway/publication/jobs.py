"""The tools by which callers ask about their jobs, over MCP."""

from typing import Any, Final

from gateway.contract.agent_view import JOB_CANCEL, JOB_RESULT, JOB_STATUS
from gateway.publication.own_tools import Hints, Offer, OwnTool, own_tool

_JOB: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "job_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "The job_id that the call returned.",
        }
    },
    "required": ["job_id"],
    "additionalProperties": False,
}


def job_tools(offer: Offer) -> tuple[OwnTool, ...]:
    """The tools, for callers with a tool whose calls may become jobs."""
    return _TOOLS if any(each.operation.task != "never" for each in offer.entries) else ()


_TOOLS: Final = (
    own_tool(
        JOB_STATUS,
        "Show the status of a job",
        "Get the status of a call that goes on as a job: queued, running, input_required,"
        " succeeded, failed or cancelled.",
        _JOB,
        Hints(),
    ),
    own_tool(
        JOB_RESULT,
        "Get the result of a job",
        f"Get the result of a job that has ended, as its tool would return it. Call {JOB_STATUS}"
        " first.",
        _JOB,
        Hints(),
    ),
    own_tool(
        JOB_CANCEL,
        "Cancel a job",
        "Cancel a job that has not ended. If its call changes something and has begun, it may have"
        " had its effect.",
        _JOB,
        Hints(read_only=False, destructive=True),
    ),
)
