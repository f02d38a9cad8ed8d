"""Ends the waiting deliveries of endpoints that were disabled, in a task of its own.

There may be too many for the time of one claim. And an error here must not repeat the job that
disabled the endpoint.
"""

import asyncio
import logging
from typing import Final

from gateway.errors import StoreError
from gateway.store.protocols import Queue

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 1.0


class Endings:
    """Endpoints whose waiting deliveries must still be ended.

    When this worker stops, other workers end the remaining deliveries when they claim them.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._endpoints: dict[str, None] = {}
        self._is_wanted = asyncio.Event()

    def add(self, endpoint_id: str) -> None:
        """Request to end the waiting deliveries of this endpoint."""
        self._endpoints[endpoint_id] = None
        self._is_wanted.set()

    async def work(self) -> None:
        """End the requested deliveries, until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            while self._endpoints:
                endpoint_id = next(iter(self._endpoints))
                try:
                    await self._queue.end_undelivered(endpoint_id)
                except StoreError as error:
                    _log.error("deliveries to %s not ended yet (%s)", endpoint_id, error.detail)
                    await asyncio.sleep(_RETRY_SECONDS)
                else:
                    self._endpoints.pop(endpoint_id, None)
