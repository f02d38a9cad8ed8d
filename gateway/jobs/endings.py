"""What waits for an endpoint that was disabled is ended, beside the work that found it out.

It may be more than a claim has time for, and no error in it must repeat what is settled.
"""

import asyncio
import logging
from typing import Final

from gateway.errors import StoreError
from gateway.store.protocols import Queue

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 1.0


class Endings:
    """Endpoints whose waiting deliveries are still to be ended.

    What is left when a worker stops is ended by the worker that takes it over.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._endpoints: dict[str, None] = {}
        self._is_wanted = asyncio.Event()

    def add(self, endpoint_id: str) -> None:
        """End what waits for this endpoint, soon."""
        self._endpoints[endpoint_id] = None
        self._is_wanted.set()

    async def work(self) -> None:
        """End what is asked for, until cancelled."""
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
