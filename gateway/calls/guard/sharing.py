"""Lets all processes know which upstreams fail, and lets one of them at a time try such one."""

import asyncio
import logging
from functools import partial
from typing import Final
from weakref import ReferenceType, WeakSet, ref

from gateway.calls.guard.breaker import LONGEST_WAIT_SECONDS, Breaker
from gateway.errors import StoreError
from gateway.store.protocols import BreakerBoard, BreakerChange

_log: Final = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0
_MORE_SECONDS: Final = 1.0
"""A lease is longer by this than the time of the request that has it."""


class SharedBreakers:
    """The breakers of this process, as far as a board joins them with those of others.

    Each breaker decides alone, and hears what the others decided. Nothing is asked for a request
    while an upstream works. Without a board, each process goes on alone.
    """

    def __init__(self, board: BreakerBoard) -> None:
        self._board = board
        self._breakers: dict[str, WeakSet[Breaker]] = {}
        """By upstream. While a reload drains, there may be two, with different credentials."""
        self._changed: dict[str, Breaker] = {}
        """Those whose state has to be posted."""
        self._ended: dict[str, str] = {}
        """Leases that have to be ended, by lease."""
        self._wake = asyncio.Event()
        self._is_joined = False
        self._is_loss_known = False

    def add(self, upstream: str, breaker: Breaker) -> "SharedTrial":
        """Share a breaker under this name. Returns the trials of its upstream."""
        self._breakers.setdefault(upstream, WeakSet()).add(breaker)
        breaker.on_change = partial(self._has_changed, upstream, ref(breaker))
        return SharedTrial(self, upstream)

    async def work(self) -> None:
        """Join the board, again and again, until cancelled."""
        while True:
            try:
                await self._share()
            except StoreError as error:
                self._note_loss(error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _share(self) -> None:
        """Hear and post until the board is lost. A group would lose a cancellation meanwhile."""
        tasks = [asyncio.create_task(run()) for run in (self._hear, self._post_changes)]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._is_joined = False
            await _end(tasks)
        for each in ended:
            each.result()

    async def claim(self, upstream: str, seconds: float) -> str | None:
        """A lease for a trial, which may be empty if there is no board. None: there is another."""
        if not self._is_joined:
            return ""
        lasting = min(seconds + _MORE_SECONDS, LONGEST_WAIT_SECONDS)
        try:
            return await self._board.claim_trial(upstream, lasting)
        except StoreError:
            return ""

    def end(self, upstream: str, lease: str) -> None:
        """End a lease, after the result of the trial is posted."""
        if lease:
            self._ended[lease] = upstream
            self._wake.set()

    async def _hear(self) -> None:
        async with self._board.joined() as feed:
            for upstream in list(self._breakers):
                await self._catch_up(upstream)
            self._wake.set()
            self._is_joined = True
            if self._is_loss_known:
                self._is_loss_known = False
                _log.info("breakers are shared with other processes again")
            async for change in feed:
                self._adopt(change)

    def _has_changed(self, upstream: str, changed: "ReferenceType[Breaker]") -> None:
        breaker = changed()
        if breaker is not None:
            self._changed[upstream] = breaker
            self._wake.set()

    async def _catch_up(self, upstream: str) -> None:
        """What was changed here while there was no board is newer than what the board knows."""
        known = await self._board.known(upstream)
        if upstream in self._changed:
            return
        if known is not None:
            self._adopt(known)
            return
        for breaker in list(self._breakers[upstream]):
            if breaker.state != "closed":
                self._changed[upstream] = breaker

    def _adopt(self, change: BreakerChange) -> None:
        for breaker in list(self._breakers.get(change.upstream, ())):
            breaker.adopt(change.wait_seconds, change.left_seconds)

    async def _post_changes(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._changed:
                # A change while this is posted has to be posted as well.
                await self._post(*self._changed.popitem())
            while self._ended:
                lease, upstream = self._ended.popitem()
                await self._board.end_trial(upstream, lease)

    async def _post(self, upstream: str, breaker: Breaker) -> None:
        wait = 0.0 if breaker.state == "closed" else breaker.wait
        try:
            await self._board.post(BreakerChange(upstream, wait, breaker.wait_seconds()))
        except StoreError:
            self._changed.setdefault(upstream, breaker)
            raise

    def _note_loss(self, error: StoreError) -> None:
        if not self._is_loss_known:
            self._is_loss_known = True
            _log.warning(
                "breakers are not shared with other processes now, and each decides alone: %s",
                error,
            )


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until they have ended. Redis's client may lose one that comes with a message."""
    while waiting := [each for each in tasks if not each.done()]:
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting, timeout=_PAUSE_SECONDS)


class SharedTrial:
    """The trials of one upstream, of which all processes have one at a time."""

    def __init__(self, shared: SharedBreakers, upstream: str) -> None:
        self._shared = shared
        self._upstream = upstream

    async def claim(self, seconds: float) -> str | None:
        """See `SharedBreakers.claim`."""
        return await self._shared.claim(self._upstream, seconds)

    def end(self, lease: str) -> None:
        """See `SharedBreakers.end`."""
        self._shared.end(self._upstream, lease)
