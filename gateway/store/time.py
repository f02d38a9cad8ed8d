"""The store's time where no database server has one: the machine's, except that it never goes back.

Leases, the moments at which work is due, and the order of ids compare times of different moments.
A clock that is set back by an hour would make every lease last an hour longer. While this process
runs, its monotonic clock bridges the difference; a restart begins no earlier than the latest time
that the database holds.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import Clock
from gateway.store.tables import Moment
from gateway.store.tables_events import EVENTS
from gateway.store.tables_jobs import CLAIMED, JOBS
from gateway.store.tables_webhooks import WEBHOOKS

_MOST: Final = timedelta(days=1)
"""What is bridged. A larger step back corrects a clock that was wrong: its time is not kept up."""
_NOTICED: Final = timedelta(seconds=5)
LATEST: Final = (
    select(func.max(JOBS.c.updated_at, type_=Moment)).where(CLAIMED),
    select(JOBS.c.created_at).order_by(JOBS.c.id.desc()).limit(1),
    select(WEBHOOKS.c.received_at).order_by(WEBHOOKS.c.id.desc()).limit(1),
    select(EVENTS.c.time)
    .where(EVENTS.c.position.is_not(None))
    .order_by(EVENTS.c.position.desc())
    .limit(1),
)
"""Each is one look into an index."""


class StoreTime:
    """Tells the time of one store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall = clock.now()
        self._monotonic = clock.monotonic()
        self._latest = self._wall
        """The latest time that was told or stored."""

    def now(self) -> datetime:
        """Never earlier than before, unless the machine's clock was set back by over a day."""
        wall = self._clock.now()
        passed = timedelta(seconds=self._clock.monotonic() - self._monotonic)
        reckoned = self._wall + passed
        if not timedelta() < reckoned - wall <= _MOST:
            reckoned = wall
            self._begin(wall)
        self._latest = max(self._latest, reckoned)
        return reckoned

    def begin_after(self, latest: datetime | None) -> None:
        """Go on from `latest`, the latest time in the database, where it is later than now."""
        if latest is not None and latest > self.now():
            self._begin(latest)
            self._latest = latest

    @property
    def problem(self) -> str | None:
        """That the machine's clock is behind the store's time, or None."""
        behind = self._latest - self._clock.now()
        if behind < _NOTICED:
            return None
        seconds = behind.total_seconds()
        return f"The clock of this machine is {seconds:.0f} s behind the database: set it."

    def _begin(self, moment: datetime) -> None:
        self._wall = moment
        self._monotonic = self._clock.monotonic()


async def latest_time(connection: AsyncConnection) -> datetime | None:
    """The latest time that the rows of a store tell, or None when there are none."""
    found = [await connection.scalar(query) for query in LATEST]
    return max((moment for moment in found if moment is not None), default=None)
