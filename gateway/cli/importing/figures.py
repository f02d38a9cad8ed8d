"""Figures of the tools of an import: what their lists cost, and what clients refuse of them."""

from collections.abc import Mapping

from msgspec import Struct

from gateway.profiles.refusals import ClientRefusal


class ListTokens(Struct, frozen=True, kw_only=True):
    """The estimated tokens of the list of all tools, by list mode."""

    full: int
    slim: int
    search: int


class ClientFigures(Struct, frozen=True, kw_only=True):
    """What the clients of one profile refuse."""

    profile: str
    unchanged: Mapping[str, tuple[str, ...]]
    """The tools that would be refused as the document describes them, by rule. The clients are
    shown wider schemas and shorter names instead."""
    shown: tuple[ClientRefusal, ...]
    """What they refuse of what they are shown."""

    @property
    def tools(self) -> int:
        """The number of tools that would be refused as the document describes them."""
        return len({tool for tools in self.unchanged.values() for tool in tools})


class ImportFigures(Struct, frozen=True, kw_only=True):
    """Figures of the tools of one import, if an agent is granted all of them."""

    tokens: ListTokens
    clients: tuple[ClientFigures, ...]
