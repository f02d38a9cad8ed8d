"""What running a job comes to: the seam between the worker and what it runs."""

import re
from typing import Final, Protocol

from msgspec import Struct

from gateway.store.records import Changes, Claim, Failure

NOTHING: Final = Changes()
"""What becomes true besides the job's own state: nothing."""
RUN_TIMEOUT: Final = "run_timeout"
"""The error of a run that was cut off, for it took too long."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Failed(Struct, frozen=True, kw_only=True):
    """The attempt failed; `changes` become true with that."""

    failure: Failure
    retry_seconds: float | None
    """Until the next attempt (`gateway.jobs.backoff`); None for what will not get better."""
    changes: Changes = NOTHING


class Finished(Struct, frozen=True, kw_only=True):
    """The work is done; `changes` become true with it, or not at all."""

    changes: Changes = NOTHING
    if_refused: Failed | None = None
    """What it comes to when the store takes no such end; without it, a failed attempt."""


class Released(Struct, frozen=True, kw_only=True):
    """The work has to wait, for a limit or a closed gate; the attempt does not count."""

    delay_seconds: float = 0.0


Outcome = Finished | Failed | Released


class Run(Protocol):
    """Does the work of one kind of job, without changing the store: that is its outcome's part.

    It is cancelled when the claim is lost or its time is up. An exception counts as an attempt
    that failed, of which only the class is kept.
    """

    async def __call__(self, claim: Claim) -> Outcome: ...


def error_name(error: BaseException) -> str:
    """The class of an error as stored records say it: `upstream_unavailable`."""
    return _WORD.sub("_", type(error).__name__).lower()
