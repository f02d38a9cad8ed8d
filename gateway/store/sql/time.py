"""The store's time where no database server has one: the machine's, except that it never goes back.

Leases, the moments at which work is due, and the order of ids compare times of different moments.
A clock that is set back by an hour would make every lease last an hour longer. While this process
runs, its monotonic clock bridges the difference; a restart begins no earlier than the latest time
that the database holds.

A clock that was ahead by over a day, and is set right, is followed instead. What waits for a moment
that the wrong clock named is then due at once, for nobody would live to see it. Until the true time
has passed those rows, a restart has nothing to go by, and begins with the machine's time.
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
_MOST: Final = timedelta(days=1)
"""What is bridged. A larger step back corrects a clock that was wrong: its time is not kept up."""
_NOTICED: Final = timedelta(seconds=5)
_ALIVE: Final = timedelta(seconds=LONGEST_HEARTBEAT_SECONDS)
"""Time enough for a worker that lives to extend what it holds."""
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
    """The clock of one store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall = clock.now()
        self._monotonic = clock.monotonic()
        self._latest = self._wall
        """The latest time that was read or stored."""
        self.is_corrected = False
        """Whether times of a wrong clock are still stored; see `bring_forward`."""

    def now(self) -> datetime:
        """Never earlier than before, unless the machine's clock was set back by over a day."""
        wall = self._clock.now()
        passed = timedelta(seconds=self._clock.monotonic() - self._monotonic)
        reckoned = self._wall + passed
        if reckoned - wall > _MOST:
            self._correct(wall, reckoned)
        elif reckoned <= wall:
            self._begin(wall)
        else:
            wall = reckoned
        self._latest = max(self._latest, wall)
        return wall

    def begin_after(self, latest: datetime | None) -> None:
        """Go on from `latest`, the latest time in the database, where it is later than now.

        By over a day it is the time of a clock that was wrong, and is not gone on from.
        """
        now = self.now()
        if latest is None or latest <= now:
            return
        if latest - now > _MOST:
            self._correct(now, latest)
        else:
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

    def _correct(self, moment: datetime, ahead: datetime) -> None:
        days = (ahead - moment).days
        _log.warning("the clock of this machine is %d days behind the database: followed", days)
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
    """Let nothing wait for a time of a wrong clock: it is due now, or a lease ends soon."""
    waits = update(JOBS).where(READY, JOBS.c.run_at > now, JOBS.c.updated_at > now)
    await connection.execute(waits.values(run_at=now, updated_at=now))
    end = now + _ALIVE
    held = update(JOBS).where(CLAIMED, JOBS.c.lease_until > end)
    await connection.execute(held.values(lease_until=end))
