"""How agents see tools: what the policies say, and the names of the gateway's own tools."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from gateway.contract.operation import Effect

ListMode: TypeAlias = Literal["full", "slim", "search"]
"""How much of the tools a list shows. `full`: all. `slim`: without what a model does not need.
`search`: tools that find and call the others."""


SERVER: Final = "contract-gateway"
"""The name that a user is assumed to give the gateway in a client."""


class AgentView(Struct, frozen=True, kw_only=True):
    """How an agent of `schemas/policies/` sees its tools. None where the policies do not say."""

    list: ListMode | None = None
    profile: str | None = None
    """The name of a client profile."""
    max_result_tokens: int | None = None
    """The largest result that it is sent over MCP."""


SEARCH_TOOLS: Final = "search_tools"
DESCRIBE_TOOLS: Final = "describe_tools"
CALL_TOOLS: Final[Mapping[Effect, str]] = {
    Effect.READ: "call_read_tool",
    Effect.WRITE: "call_write_tool",
    Effect.DESTROY: "call_destroy_tool",
}
"""The tool that calls others, for each effect of a call."""
CONTINUE_RESULT: Final = "continue_result"
CALLING_TOOLS: Final = frozenset({*CALL_TOOLS.values(), CONTINUE_RESULT})
"""Those of the gateway's own tools that call tools of contracts, so that each use is audited."""
JOB_STATUS: Final = "job_status"
JOB_RESULT: Final = "job_result"
JOB_CANCEL: Final = "job_cancel"
OWN_TOOLS: Final = CALLING_TOOLS | {
    SEARCH_TOOLS,
    DESCRIBE_TOOLS,
    JOB_STATUS,
    JOB_RESULT,
    JOB_CANCEL,
}
"""The MCP tools of the gateway itself. No contract may give a tool one of these names."""
