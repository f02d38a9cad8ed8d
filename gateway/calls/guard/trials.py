"""Lets the requests of one call wait for the trial among them."""

import asyncio

from gateway.calls.guard.errors import NotSent
from gateway.calls.guard.lateness import Passage
from gateway.calls.guard.upstream import Guard


class CallTrials:
    """The trials that requests of one call are, for upstreams that failed.

    A handler may send several requests at once. While the breaker is half-open, one of them is the
    trial. The others wait for it, so that the call can succeed.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Event] = {}
        """By upstream."""

    async def admitted(
        self, upstream: str, guard: Guard, operation: str, seconds: float
    ) -> Passage:
        """See `Guard.enter`. A trial takes as long as one attempt at most."""
        while True:
            try:
                passage = guard.enter(operation, seconds)
            except NotSent:
                trial = self._under_way.get(upstream)
                if trial is None:
                    raise
                await trial.wait()
                continue
            if passage.is_trial:
                self._under_way.setdefault(upstream, asyncio.Event())
                await self._confirm(upstream, guard, passage)
            return passage

    async def _confirm(self, upstream: str, guard: Guard, trial: Passage) -> None:
        is_ours = False
        try:
            await guard.confirm(trial)
            is_ours = True
        finally:
            if not is_ours:
                self.ended(upstream, trial)

    def ended(self, upstream: str, passage: Passage) -> None:
        """Note that an admitted request has ended, after the guard knows its result."""
        if passage.is_trial:
            trial = self._under_way.pop(upstream, None)
            if trial is not None:
                trial.set()
