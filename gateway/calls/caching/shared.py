"""Shares results of reads with other processes, and notifies them of writes."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from math import inf
from typing import Final
from uuid import uuid4

from msgspec import Struct

from gateway.calls.caching.answers import (
    KeptResult,
    NotAnnounced,
    SealedResult,
    Sealing,
    encode_key,
)
from gateway.clock import Clock
from gateway.contract.operation import Operation
from gateway.errors import StoreError
from gateway.store.protocols import ResultBoard, ResultReading

_SECOND: Final = 1_000_000
_PAUSE_SECONDS: Final = 1.0
"""After a failure of the board, reads do without it for this time."""
_ANNOUNCE_SECONDS: Final = 2.0
"""A write waits this long for the board at most. Then it is not made."""
_AGAIN_SECONDS: Final = 0.1
_log: Final = logging.getLogger(__name__)


class Found(Struct, frozen=True):
    """What the board knew of one result."""

    name: str
    finding: ResultReading
    read_at: float
    """When, in seconds of the monotonic clock. It was not later."""
    answer: KeptResult | None
    """The result, which may be stale."""


class SharedResults:
    """The results that all processes keep together, on a board.

    No process uses a result unless the board confirms it. A write that the board has not confirmed
    is not made. So a process that cannot reach the board can neither use what a write of another
    one has ended, nor make a write of which the others do not know.
    """

    def __init__(
        self,
        board: ResultBoard,
        clock: Clock,
        secret: bytes | None,
        announced: Collection[str],
        homes: Mapping[str, str] = {},
    ) -> None:
        """`secret`: see `Sealing`. None: writes are announced, and no result is shared, because
        whoever can write to the board could make it up.

        `announced`: the connectors whose writes end kept results. `homes`: upstreams that
        processes with the same home share and no others, with this home.
        """
        self._board = board
        self._clock = clock
        self._sealing = None if secret is None else Sealing(secret)
        self._announced = frozenset(announced)
        self._homes = homes
        self._ending: set[asyncio.Task[None]] = set()
        self._lost_at = -inf
        self._is_lost = False

    async def find(self, operation: Operation, key: bytes) -> Found | None:
        """What the board knows of the result under `key`.

        None: it does not answer, or no result is shared.
        """
        sealing = self._sealing
        if sealing is None or self._clock.monotonic() < self._lost_at + _PAUSE_SECONDS:
            return None
        homes = [self._homes.get(upstream) for upstream in operation.upstreams]
        name = sealing.name_of(encode_key([homes, key]))
        try:
            finding = await self._board.find(operation.connector, name)
        except StoreError as error:
            self._lose(error)
            return None
        self._regain()
        now = self._clock.monotonic()
        return Found(name, finding, now, _answer(sealing, finding, name, now))

    async def keep(self, connector: str, found: Found, answer: KeptResult, seconds: float) -> None:
        """Keep a result that was made after `found`, unless a write may have changed it since."""
        if self._sealing is None or not found.finding.is_settled:
            return
        passed = round((answer.made_at - found.read_at) * _SECOND)
        facts = answer.backend, answer.hidden_characters, answer.text
        shared = SealedResult(found.finding.at + passed, *facts)
        value = self._sealing.seal(found.finding.state, found.name, shared)
        try:
            await self._board.keep(connector, found.name, found.finding, value, seconds)
        except StoreError as error:
            self._lose(error)

    async def announce(self, connector: str) -> str | None:
        """Begin a write: until it ends, no process uses or keeps results of its connector.

        Returns what ends it, or None if no results depend on it. Raises `NotAnnounced`.
        """
        if connector not in self._announced:
            return None
        write = uuid4().hex
        try:
            async with asyncio.timeout(_ANNOUNCE_SECONDS):
                await self._begin(connector, write)
        except TimeoutError:
            raise NotAnnounced from None
        self._regain()
        return write

    async def end(self, connector: str, write: str, unsettled_seconds: float) -> None:
        """End a write, which may still happen for this time. A cancellation does not stop it.

        If the board does not answer, the write ends there by itself, later.
        """
        ending = asyncio.create_task(self._end(connector, write, unsettled_seconds))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        await asyncio.shield(ending)

    async def close(self) -> None:
        """Wait for writes that end, and close the board."""
        await asyncio.gather(*self._ending)
        await self._board.close()

    async def _begin(self, connector: str, write: str) -> None:
        while True:
            try:
                return await self._board.begin_write(connector, write)
            except StoreError as error:
                self._lose(error)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _end(self, connector: str, write: str, unsettled_seconds: float) -> None:
        with suppress(StoreError):
            await self._board.end_write(connector, write, unsettled_seconds)

    def _lose(self, error: StoreError) -> None:
        self._lost_at = self._clock.monotonic()
        if not self._is_lost:
            self._is_lost = True
            _log.warning("results are not shared with other processes now: %s", error)

    def _regain(self) -> None:
        self._lost_at = -inf
        if self._is_lost:
            self._is_lost = False
            _log.info("results are shared with other processes again")


def _answer(sealing: Sealing, finding: ResultReading, name: str, now: float) -> KeptResult | None:
    """The result that was found. One from the future shows that the board's clock was set."""
    if finding.value is None:
        return None
    shared = sealing.open(finding.state, name, finding.value)
    if shared is None or shared.made_at > finding.at:
        return None
    made_at = now - (finding.at - shared.made_at) / _SECOND
    return KeptResult(shared.text, shared.backend, shared.hidden_characters, made_at)
