"""Shares what processes know of upstreams that fail."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct


class BreakerChange(Struct, frozen=True):
    """Whether one upstream gets requests."""

    upstream: str
    """The name that all processes give it that send to the same address."""
    wait_seconds: float
    """It gets none for this time after its last failure. 0: it gets all of them."""
    left_seconds: float
    """What is left of this time."""


class BreakerBoard(Protocol):
    """Where processes post what they know of upstreams. Everything raises `StoreError`."""

    def joined(self) -> AbstractAsyncContextManager[AsyncIterator[BreakerChange]]:
        """What other processes post while the block runs."""
        ...

    async def known(self, upstream: str) -> BreakerChange | None:
        """The latest change of an upstream that gets no requests. None: it gets them, or those who
        posted it have been silent for a minute."""
        ...

    async def post(self, change: BreakerChange) -> None:
        """Make `change` known to all processes that have joined or join within a minute."""
        ...

    async def claim_trial(self, upstream: str, seconds: float) -> str | None:
        """A lease for the one request that may try an upstream. None: another one has it.

        It ends by itself after this many seconds.
        """
        ...

    async def end_trial(self, upstream: str, lease: str) -> None:
        """End the lease, if it has not ended."""
        ...
