"""The view of a caller: how much it is shown of its tools, in which form, and by which names."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import SERVER, AgentView, ListMode
from gateway.contract.operation import Tool, mcp_name
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, UnknownOperation
from gateway.profiles.clients import DEFAULT as DEFAULT_PROFILE
from gateway.profiles.clients import PROFILES
from gateway.profiles.refusals import short_names

# The names under which clients see tools: short ones for clients that refuse long names.


class ShownNames:
    """The names of all tools at each endpoint. They are made when they are first needed."""

    def __init__(self, catalogue: Catalogue, server: str = SERVER) -> None:
        """`server`: what users name the gateway in their clients."""
        self._catalogue = catalogue
        self._server = server
        self._endpoints = frozenset((None, *catalogue.connectors))
        self._shorter: dict[tuple[str | None, int], Mapping[str, str]] = {}
        self._entries: dict[str | None, Mapping[str, Entry]] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All tools."""
        return self._catalogue.entries

    def name(self, tool: Tool, connector: str | None, profile: str) -> str:
        """The name of `tool` for `profile` at the endpoint of `connector`; None is that for all."""
        own = tool.name if connector is None else tool.bare_name
        room = PROFILES[profile].room(self._server)
        if room is None or len(own) <= room:
            return own
        return self._short(connector, room).get(own, own)

    def entry(self, name: str, connector: str | None = None) -> Entry | None:
        """The entry of the tool `name`, without a check of who may call it. None if there is none.

        Short names of any profile are valid for all callers, on all transports.
        """
        try:
            return self._catalogue.find_tool(name, connector)
        except UnknownOperation:
            return self._shortened(name, connector)

    def successor(self, name: str, connector: str | None = None) -> Entry | None:
        """The tool that takes the calls of `name`, which is gone. None if none is declared."""
        return self._successors.get((connector, name))

    @cached_property
    def _successors(self) -> Mapping[tuple[str | None, str], Entry]:
        found: dict[tuple[str | None, str], Entry] = {}
        for gone, entry in self._catalogue.successors.items():
            connector, _, bare = gone.partition(".")
            found |= dict.fromkeys(((None, mcp_name(gone)), (None, gone), (connector, bare)), entry)
        return found

    def _shortened(self, name: str, connector: str | None) -> Entry | None:
        if connector not in self._endpoints:  # a path of the caller's own may name any
            return None
        found = self._entries.get(connector)
        if found is None:
            found = self._entries[connector] = dict(self._named(connector))
        return found.get(name)

    def _short(self, connector: str | None, room: int) -> Mapping[str, str]:
        found = self._shorter.get((connector, room))
        if found is None:
            names = (name for each in self._at(connector) for name in _names(each.tool, connector))
            found = self._shorter[connector, room] = short_names(names, room)
        return found

    def _named(self, connector: str | None) -> Iterator[tuple[str, Entry]]:
        rooms = (each.room(self._server) for each in PROFILES.values())
        for room in sorted({room for room in rooms if room is not None}):
            shorter = self._short(connector, room)
            for entry in self._at(connector):
                short = shorter.get(_names(entry.tool, connector)[0])
                if short is not None:
                    yield short, entry

    def _at(self, connector: str | None) -> Iterator[Entry]:
        """The entries at the endpoint of `connector`."""
        for entry in self._catalogue.entries:
            if connector in {None, entry.operation.connector}:
                yield entry


def _names(tool: Tool, connector: str | None) -> tuple[str, ...]:
    """The tool's own name at the endpoint of `connector`, and its aliases."""
    return (tool.name if connector is None else tool.bare_name, *tool.aliases)


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
