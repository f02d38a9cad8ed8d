"""Which own tools each caller sees. An own tool is listed exactly when the caller may call it."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.publication.own_tools import Listable, Offer, OwnTool
from gateway.transports.mcp.own.calls import Run

OFFERS_KEPT: Final = 256
"""The most offers that are kept. There is one for each agent, endpoint, view and kind of client."""
OwnToolsOf: TypeAlias = Callable[[Offer], Iterable[OwnTool]]


class OwnKind(Struct, frozen=True):
    """Own tools that belong together."""

    offered: OwnToolsOf
    """The tools of this kind that an offer includes."""
    run: Mapping[str, Run]
    """By the tool's name. It has all names that `offered` returns."""
    hides_others: Callable[[Offer], bool] = lambda _: False
    """Whether the list leaves out the tools of contracts, because tools of this kind find them."""


class OpenOffer(Struct, frozen=True, eq=False):
    """An offer with its own tools and its list."""

    offer: Offer
    own: Mapping[str, OwnTool]
    """By name."""
    listed: tuple[Listable, ...]
    """What a list shows: the own tools, and the tools of contracts if they are not hidden."""


class OwnTools:
    """The own tools of all kinds."""

    def __init__(self, kinds: Iterable[OwnKind]) -> None:
        self._kinds = tuple(kinds)
        self._kept: dict[Hashable, OpenOffer] = {}
        self._run = {name: run for kind in self._kinds for name, run in kind.run.items()}

    def kept(self, key: Hashable, make: Callable[[], Offer]) -> OpenOffer:
        """The open offer for `key`, which names everything that it depends on."""
        found = self._kept.get(key)
        if found is None:
            found = self.open(make())
            if len(self._kept) >= OFFERS_KEPT:
                self._kept.clear()
            if found.offer.entries:  # a path of the caller's own may name any connector
                self._kept[key] = found
        return found

    def open(self, offer: Offer) -> OpenOffer:
        """The offer with its own tools."""
        own = tuple(tool for kind in self._kinds for tool in kind.offered(offer))
        is_hidden = any(kind.hides_others(offer) for kind in self._kinds)
        return OpenOffer(
            offer,
            {tool.tool.name: tool for tool in own},
            own if is_hidden else (*offer.entries, *own),
        )

    def run(self, name: str) -> Run:
        """What runs the own tool `name`."""
        return self._run[name]
