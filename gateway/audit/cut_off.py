"""Settles the records of calls whose process ended before they did."""

import asyncio
import logging
from typing import Final

from gateway.errors import StoreError
from gateway.store.protocols import Store

PENDING_SECONDS: Final = 900.0
"""After this time, the process of a pending record has ended. No call may take so long."""
_EVERY_SECONDS: Final = 60.0
_BATCH: Final = 500
_SHOWN: Final = 5
_log: Final = logging.getLogger(__name__)


class CutOffCalls:
    """Finds calls that began and did not end, and says of each that its outcome is unknown."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def work(self) -> None:
        """Settle them every minute, until cancelled."""
        while True:
            try:
                await self.settle()
            except StoreError as error:
                _log.error("calls that were cut off cannot be settled (%s)", error.detail)
            await asyncio.sleep(_EVERY_SECONDS)

    async def settle(self, *, is_only_process: bool = False) -> int:
        """Settle the calls of processes that have ended. Returns how many. Raises `StoreError`.

        If `is_only_process`, nobody runs any of the calls: each is settled now.
        """
        await self._store.keyed_calls.cut_off(is_only_process=is_only_process)
        pending_seconds = 0.0 if is_only_process else PENDING_SECONDS
        total = 0
        while settled := await self._store.audit.cut_off(pending_seconds, _BATCH):
            total += len(settled)
            _log.warning(
                "%d calls were cut off by the end of their process, and may have had their effect:"
                " see `gateway audit list --outcome CUT_OFF` (%s, …)",
                len(settled),
                ", ".join(settled[:_SHOWN]),
            )
        return total
