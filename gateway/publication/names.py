"""The names under which clients see tools: short ones for clients that refuse long names."""

from collections.abc import Iterator, Mapping

from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import SERVER
from gateway.contract.operation import Tool
from gateway.errors import UnknownOperation
from gateway.profiles.clients import PROFILES
from gateway.profiles.refusals import short_names


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
