"""Shares results of reads between processes, and the writes that end them."""

from typing import Protocol

from msgspec import Struct


class ResultReading(Struct, frozen=True):
    """What is known of one result, at one moment."""

    state: bytes
    """The name of the state of the connector. Each write replaces it, and it never comes back."""
    is_settled: bool
    """Whether no write is under way, and none may still happen."""
    at: int
    """The moment, in microseconds of the board's clock."""
    value: bytes | None
    """What was kept for this state. Anyone who reaches the board may have written it."""


class ResultBoard(Protocol):
    """Where processes keep results for each other. Everything raises `StoreError`.

    A connector whose state is lost gets a new one. Writes may have been under way then, so it is
    not settled for the longest time that they may take.
    """

    async def find(self, connector: str, key: str) -> ResultReading:
        """What is kept under `key`, and the state of the connector."""
        ...

    async def keep(
        self, connector: str, key: str, found: ResultReading, value: bytes, seconds: float
    ) -> None:
        """Keep `value`, which was made after `found`, unless a write has begun since."""
        ...

    async def begin_write(self, connector: str, write: str) -> None:
        """End all results of the connector, and keep none until the write ends.

        If its end is not noted, that is until it cannot happen any more. It may be repeated for the
        same `write`.
        """
        ...

    async def end_write(self, connector: str, write: str, unsettled_seconds: float) -> None:
        """Note that the write has ended, and for how long it may still happen."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
