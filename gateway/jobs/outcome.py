"""The outcomes of a run: the interface between the worker and the runs of each kind."""

import re
from typing import Final, Protocol

from msgspec import Struct

from gateway.store.records import Changes, Claim, Failure

NOTHING: Final = Changes()
"""No changes besides the job's own state."""
RUN_TIMEOUT: Final = "run_timeout"
"""The error of a run that was cancelled because it took too long."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Failed(Struct, frozen=True, kw_only=True):
    """The attempt failed. `changes` are written in the same transaction."""

    failure: Failure
    retry_seconds: float | None
    """The wait until the next attempt (`gateway.jobs.backoff`). None for a permanent failure."""
    changes: Changes = NOTHING


class Finished(Struct, frozen=True, kw_only=True):
    """The job is done. `changes` are written in the same transaction."""

    changes: Changes = NOTHING
    if_refused: Failed | None = None
    """The outcome if the store refuses this one. None counts it as a failed attempt."""


class Released(Struct, frozen=True, kw_only=True):
    """The job must wait, because of a limit or a closed gate. The attempt does not count."""

    delay_seconds: float = 0.0


class AwaitingInput(Struct, frozen=True, kw_only=True):
    """A task waits for answers of its client. The attempt does not count."""

    questions: bytes
    """The open questions, as JSON text."""
    answers: bytes
    """The answers so far, as JSON text."""


Outcome = Finished | Failed | Released | AwaitingInput


class Run(Protocol):
    """Runs one kind of job. It does not write to the store: its outcome names the changes.

    It is cancelled when the claim is lost or its time is up. An exception counts as a failed
    attempt. Only the class of the exception is stored.
    """

    async def __call__(self, claim: Claim) -> Outcome: ...


def error_name(error: BaseException) -> str:
    """The class of an error in the form of stored records, for example `upstream_unavailable`."""
    return _WORD.sub("_", type(error).__name__).lower()
