"""The view of a caller: how much it is shown of its tools, and in which form."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.contract.agent_view import AgentView, ListMode

DEFAULT_PROFILE: Final = "default"
_NO_AGENT: Final = AgentView()


class ToolView(Struct, frozen=True):
    """How a caller sees its tools. Two callers with equal views and grants get equal lists."""

    mode: ListMode = "slim"
    profile: str = DEFAULT_PROFILE
    """The name of the client profile."""


class Views:
    """Chooses the view of each caller: by the policy of its agent, else by the default."""

    def __init__(
        self, agents: Mapping[str, AgentView] | None = None, default: ListMode = "slim"
    ) -> None:
        """`agents`: what the policies say. `default`: the mode of agents without one."""
        self._agents = {} if agents is None else agents
        self._default = default

    def of(self, agent: str) -> ToolView:
        """The view of a caller that acts as `agent`."""
        said = self._agents.get(agent, _NO_AGENT)
        return ToolView(said.list or self._default, said.profile or DEFAULT_PROFILE)


NO_VIEWS: Final = Views()
"""The default view for all callers."""
