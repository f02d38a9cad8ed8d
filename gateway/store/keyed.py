"""Calls with an idempotency key, and how they ended."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct


class KeyedCall(Struct, frozen=True, kw_only=True):
    """A call that may change something, and the key under which its caller may repeat it."""

    id: str
    """The id of its audit record."""
    subject: str
    """Each caller has its own keys."""
    key: str
    operation: str
    fingerprint: str
    """A digest of the operation and its arguments."""
    lease_seconds: float
    """A call that has not ended by then, and whose lease was not extended, was cut off."""


class CallEnding(Struct, frozen=True, kw_only=True):
    """How a call ended. A repetition gets the same."""

    outcome: Literal["result", "problem", "unknown", "too_large", "cancelled"]
    """`unknown`: the call may have changed something, and nobody knows. `too_large`: it succeeded,
    and its result was too large to be kept. `cancelled`: it was not made, or it only read."""
    body: bytes = b""
    """The result or the problem, as JSON text. A second line is what the answer says beside it."""
    file: bytes | None = None
    """The bytes of a result that is a file."""
    media_type: str | None = None
    """The media type of `file`."""
    backend: str | None = None
    """The backend of a result."""


class TaskSettlement(Struct, frozen=True, kw_only=True):
    """How the task of a job ended. It is written in the transaction of the job's transition."""

    job_id: str
    ending: CallEnding
    frees_key: bool = False
    """Whether the call changed nothing, so that its key may be used for another attempt."""


class KnownCall(Struct, frozen=True, kw_only=True):
    """The call that has used a key before."""

    id: str
    fingerprint: str
    began_at: datetime
    left_seconds: float
    """How long it may still run. 0 or less: it was cut off, or it has ended."""
    ending: CallEnding | None
    """None while it runs, and if it was cut off."""
    job_id: str | None = None
    """The job that the call became. The other members do not describe a job."""


class KeyedCalls(Protocol):
    """Idempotency keys, each with its first call."""

    async def begin(self, call: KeyedCall) -> KnownCall | None:
        """Store `call`, durably. If its caller has used the key before, return that call instead.

        Raises `StoreError`. Then it is not known whether the call is stored.
        """
        ...

    async def end(self, call_id: str, ending: CallEnding) -> None:
        """Store how a call ended, durably. Raises `StoreError`."""
        ...

    async def release(self, call_id: str) -> None:
        """Forget a call that changed nothing, so that it may be repeated. Raises `StoreError`.

        Does nothing if the call became a job: then the key is the job's.
        """
        ...

    async def extend(self, call_ids: Sequence[str], lease_seconds: float) -> None:
        """Let the leases of these calls end so many seconds from now. Raises `StoreError`."""
        ...

    async def cut_off(self, *, is_only_process: bool) -> None:
        """Mark the running calls whose lease has ended as cut off. Raises `StoreError`.

        If `is_only_process`, nobody runs any of them: mark all.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most `limit` calls that began that long ago. Returns how many.

        The key of a job is kept for as long as its result.
        """
        ...
