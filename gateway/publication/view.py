"""The view of a caller: how much it is shown of its tools, in which form, and what that costs."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.contract.agent_view import SERVER, AgentView, ListMode
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError
from gateway.profiles.clients import DEFAULT as DEFAULT_PROFILE
from gateway.profiles.clients import PROFILES

# How many tokens a model reads: an estimate that needs no vocabulary and no network.

BYTES_PER_TOKEN: Final = 4
"""Bytes of UTF-8 for one token. Of lists of tools, real tokenizers make 5 % more to 16 % fewer;
docs/contributing/reports/imports.md has the figures."""


def estimated_tokens(size: int) -> int:
    """The tokens of a text of `size` bytes, rounded up."""
    return -(-size // BYTES_PER_TOKEN)


# The view of a caller: how much it is shown of its tools, and in which form.

MAX_RESULT_TOKENS: Final = 25_000
"""What Claude Code reads of a result."""
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
        *,
        max_result_tokens: int = MAX_RESULT_TOKENS,
        server_name: str = SERVER,
    ) -> None:
        """`agents`: what the policies say. The others are for agents about which they do not.

        `profile`: without one, the name of the client chooses it. Raises `ConfigurationError` for
        a profile that does not exist.
        """
        self._agents = {} if agents is None else agents
        self._default = default
        self._profile = profile
        self.server_name = server_name
        """What users name the gateway in their clients."""
        self._known: dict[tuple[str, str | None], ToolView] = {}
        for each in (profile, *(said.profile for said in self._agents.values())):
            _require_profile(each)
        self._result_bytes = max_result_tokens * BYTES_PER_TOKEN
        self._result_bytes_of = {
            agent: said.max_result_tokens * BYTES_PER_TOKEN
            for agent, said in self._agents.items()
            if said.max_result_tokens is not None
        }

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

    def result_bytes(self, agent: str) -> int:
        """The largest text of a result, in bytes, that a caller that acts as `agent` is sent."""
        return self._result_bytes_of.get(agent, self._result_bytes)


def _require_profile(name: str | None) -> None:
    if name is not None and name not in PROFILES:
        suggestion = hint(name, PROFILES, f"the profiles are {', '.join(PROFILES)}")
        raise ConfigurationError(f"there is no client profile {name!r}; {suggestion}")


NO_VIEWS: Final = Views()
"""The default view for all callers."""
