"""The published documents of single operations, cut out of the document of all."""

from collections.abc import Callable
from threading import Lock
from typing import Final

from gateway.catalogue.visible import contract_of

KEPT: Final = 32
"""How many are kept: those that were made last."""


class ToolContracts:
    """Makes them one at a time, because each takes the whole document, of 50 MB with imports."""

    def __init__(self, document: Callable[[], bytes]) -> None:
        self._document = document
        self._kept: dict[str, bytes] = {}
        self._one_at_a_time = Lock()

    def kept(self, route: str) -> bytes | None:
        """The document of the operation at `route` if it is kept. This takes no time."""
        return self._kept.get(route)

    def of(self, route: str) -> bytes:
        """The document of the operation at `route`. If it is not kept, this takes time."""
        with self._one_at_a_time:
            found = self._kept.get(route)
            if found is None:
                found = contract_of(self._document(), route)
                if len(self._kept) >= KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[route] = found
            return found
