"""The view of a caller: how much it is shown of its tools, and in which form."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.contract.agent_view import AgentView, ListMode
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError
from gateway.profiles.clients import DEFAULT as DEFAULT_PROFILE
from gateway.profiles.clients import PROFILES

_NO_AGENT: Final = AgentView()


class ToolView(Struct, frozen=True):
    """How a caller sees its tools. Two callers with equal views and grants get equal lists."""

    mode: ListMode = "slim"
    profile: str = DEFAULT_PROFILE
    """The name of the client profile."""


class Views:
    """Chooses the view of each caller: by the policy of its agent, else by the default."""

    def __init__(
        self,
        agents: Mapping[str, AgentView] | None = None,
        default: ListMode = "slim",
        profile: str | None = None,
    ) -> None:
        """`agents`: what the policies say. `default`: the mode of agents without one.

        `profile`: the profile of agents without one; None chooses it by the name of the client.
        Raises `ConfigurationError` for a profile that does not exist.
        """
        self._agents = {} if agents is None else agents
        self._default = default
        self._profile = profile
        self._known: dict[tuple[str, str | None], ToolView] = {}
        for each in (profile, *(said.profile for said in self._agents.values())):
            _require_profile(each)

    def of(self, agent: str, profile: str | None = None) -> ToolView:
        """The view of a caller that acts as `agent`.

        `profile` is the name of the client's profile, if the client has said its name.
        """
        key = agent, profile
        view = self._known.get(key)
        if view is None:
            view = self._known[key] = self._of(agent, profile)
        return view

    def _of(self, agent: str, profile: str | None) -> ToolView:
        said = self._agents.get(agent, _NO_AGENT)
        chosen = said.profile or self._profile or profile or DEFAULT_PROFILE
        return ToolView(said.list or self._default, chosen)


def _require_profile(name: str | None) -> None:
    if name is not None and name not in PROFILES:
        suggestion = hint(name, PROFILES, f"the profiles are {', '.join(PROFILES)}")
        raise ConfigurationError(f"there is no client profile {name!r}; {suggestion}")


NO_VIEWS: Final = Views()
"""The default view for all callers."""
