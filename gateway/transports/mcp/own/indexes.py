"""The search indexes of offers, built when the first search needs them."""

import asyncio
from collections import OrderedDict
from typing import Any, Final, TypeAlias

from gateway.catalogue import Catalogue, Entry
from gateway.contract.operation import ImportedBinding
from gateway.publication.own_tools import Offer
from gateway.publication.search.index import OfferIndex

INDEXES_KEPT: Final = 8
"""The most indexes that are kept. One of 10,000 tools takes about 10 MB."""
_Key: TypeAlias = tuple[str | None, frozenset[Entry]]


class OfferIndexes:
    """Builds an index once for all callers with the same tools, in a thread."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._addresses: dict[str, dict[str, tuple[str, str]]] = {}
        self._kept: OrderedDict[_Key, asyncio.Task[OfferIndex]] = OrderedDict()

    async def of(self, offer: Offer) -> OfferIndex:
        """The index of `offer`."""
        key = offer.connector, offer.grants
        building = self._kept.get(key)
        if building is None or _has_failed(building):
            building = asyncio.create_task(asyncio.to_thread(OfferIndex, offer, self._address))
            building.add_done_callback(_has_failed)
            self._kept[key] = building
            if len(self._kept) > INDEXES_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        # A cancelled search must not cancel the building, because other searches wait for it.
        return await asyncio.shield(building)

    def _address(self, entry: Entry) -> tuple[str, str]:
        """The method and the path of an imported operation. Names of the others say more."""
        binding = entry.operation.binding
        if not isinstance(binding, ImportedBinding):
            return "", ""
        name = binding.upstream
        if name not in self._addresses:
            upstream = self._catalogue.upstreams[name]
            self._addresses[name] = {
                each.id: (each.method, each.path) for each in upstream.operations
            }
        return self._addresses[name].get(entry.id, ("", ""))


def _has_failed(building: asyncio.Task[Any]) -> bool:
    """Reading the exception keeps asyncio from logging that it was never retrieved."""
    return building.done() and (building.cancelled() or building.exception() is not None)
