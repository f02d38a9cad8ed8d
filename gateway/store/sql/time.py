"""The store's time without a database server: the machine's time, but it never goes back.

Leases, due times and the order of ids compare stored times with the current time. If the clock is
set back by an hour, every lease would last an hour longer. So while this process runs, its
monotonic clock is used instead. A restart begins with the latest time in the database.

If the clock was ahead by more than a day and is corrected, the store follows it. Jobs that wait for
a time of the wrong clock are then due at once, because that time may be years ahead. As long as
the database has such times, a restart cannot use them and begins with the machine's time.
"""

import logging
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import Clock
from gateway.job_policy import LONGEST_HEARTBEAT_SECONDS
from gateway.store.tables.base import Moment
from gateway.store.tables.events import EVENTS
from gateway.store.tables.jobs import CLAIMED, JOBS, READY
from gateway.store.tables.webhooks import WEBHOOKS

_log: Final = logging.getLogger(__name__)
_MAX_STEP_BACK: Final = timedelta(days=1)
"""The largest step back that is hidden. A larger step corrects a wrong clock and is followed."""
_NOTICED: Final = timedelta(seconds=5)
_HEARTBEAT: Final = timedelta(seconds=LONGEST_HEARTBEAT_SECONDS)
"""Enough time for a live worker to extend its claims."""
LATEST: Final = (
    select(func.max(JOBS.c.updated_at, type_=Moment)).where(CLAIMED),
    select(JOBS.c.created_at).order_by(JOBS.c.id.desc()).limit(1),
    select(WEBHOOKS.c.received_at).order_by(WEBHOOKS.c.id.desc()).limit(1),
    select(EVENTS.c.time)
    .where(EVENTS.c.position.is_not(None))
    .order_by(EVENTS.c.position.desc())
    .limit(1),
)
"""Queries for the latest times. Each reads one entry of an index."""


class StoreTime:
    """The clock of one store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall = clock.now()
        self._monotonic = clock.monotonic()
        self._latest = self._wall
        """The latest time that was read or stored."""
        self.is_corrected = False
        """Whether the database may still have times of a wrong clock; see `bring_forward`."""

    def now(self) -> datetime:
        """The current time. It only goes back when the clock was set back by more than a day."""
        wall = self._clock.now()
        passed = timedelta(seconds=self._clock.monotonic() - self._monotonic)
        expected = self._wall + passed
        if expected - wall > _MAX_STEP_BACK:
            self._correct(wall, expected)
        elif expected <= wall:
            self._begin(wall)
        else:
            wall = expected
        self._latest = max(self._latest, wall)
        return wall

    def begin_after(self, latest: datetime | None) -> None:
        """Begin at `latest`, the latest time in the database, if it is later than now.

        If it is later by more than a day, it is from a wrong clock and is ignored.
        """
        now = self.now()
        if latest is None or latest <= now:
            return
        if latest - now > _MAX_STEP_BACK:
            self._correct(now, latest)
        else:
            self._begin(latest)
            self._latest = latest

    @property
    def machine(self) -> datetime:
        """What the machine's clock shows."""
        return self._clock.now()

    @property
    def problem(self) -> str | None:
        """The message that the machine's clock is behind the store's time, or None."""
        behind = self._latest - self._clock.now()
        if behind < _NOTICED:
            return None
        seconds = behind.total_seconds()
        return f"The clock of this machine is {seconds:.0f} s behind the database: set it."

    def _correct(self, moment: datetime, ahead: datetime) -> None:
        days = (ahead - moment).days
        _log.warning("the clock of this machine is %d days behind the database: used anyway", days)
        self._begin(moment)
        self._latest = moment
        self.is_corrected = True

    def _begin(self, moment: datetime) -> None:
        self._wall = moment
        self._monotonic = self._clock.monotonic()


async def latest_time(connection: AsyncConnection) -> datetime | None:
    """The latest time in the rows of a store, or None when there are none."""
    found = [await connection.scalar(query) for query in LATEST]
    return max((moment for moment in found if moment is not None), default=None)


async def bring_forward(connection: AsyncConnection, now: datetime) -> None:
    """Make jobs with a due time of a wrong clock due now, and let such leases end soon."""
    waits = update(JOBS).where(READY, JOBS.c.run_at > now, JOBS.c.updated_at > now)
    await connection.execute(waits.values(run_at=now, updated_at=now))
    end = now + _HEARTBEAT
    held = update(JOBS).where(CLAIMED, JOBS.c.lease_until > end)
    await connection.execute(held.values(lease_until=end))
