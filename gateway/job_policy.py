"""How jobs are processed: one row for each kind. None of these figures stands anywhere else.

A program may pass a policy of its own to `Gateway.work_by`, to `open_store` and to a `Worker`. The
settings `workers`, `webhook_days`, `webhook_id_days` and `job_days` have their defaults from here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

JobKind = Literal["webhook", "delivery", "call"]

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0


LONGEST_HEARTBEAT_SECONDS: Final = 60.0
"""Within this time a worker that lives has extended each of its leases."""


class JobPolicy(Struct, frozen=True, kw_only=True):
    """One kind of job."""

    attempts: int
    """The last one that fails, or whose worker dies, makes the job a dead letter. A job keeps the
    number with which it was made."""
    waits_seconds: tuple[float, ...]
    """After the first attempt, the second, …: one for each but the last. A job that was made with
    more attempts waits as long as after the last of these."""
    jitter: tuple[float, float] = (0.8, 1.2)
    """Each wait is multiplied by a number between these, so that what failed together parts."""
    busy_wait_seconds: float = 1.0
    """After an attempt that the gateway itself ended: by a limit, a stop, or a store that failed.
    It does not count."""
    limited_wait_seconds: tuple[float, float] = (5.0, _HOUR)
    """The least and the most after an attempt that an upstream's rate limit ended, whatever the
    upstream asks for. It does not count."""
    alone_from_attempt: int = 3
    """A job whose worker has died is run with nothing beside it from this attempt on: if it is the
    cause, it takes no other job with it to the dead letter."""
    is_repeatable: bool = True
    """Whether a run that a stop cuts off may be begun again at once. Else its lease is left to end,
    so that the next attempt knows of it."""
    slots: int
    """Runs at once, for each unit of `WorkPolicy.size`."""
    lane_share: int | None = None
    """One lane takes at most this part of the slots (4: a quarter), so that a slow one leaves the
    others room; None for all of them."""
    lease_seconds: float = 30.0
    """How long a claim holds without a sign of life."""
    timeout_seconds: float = 120.0
    """The longest run."""
    retention_days: float
    """How long an ended job is kept, with its attempts: the default of the settings
    `webhook_id_days` and `job_days`, which decide."""
    payload_days: float | None = None
    """How long what it was about is kept, after its end, where that is less: the default of the
    setting `webhook_days`, which decides."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a lease that a corrected clock would end before it is extended."""
        if self.heartbeat_seconds >= LONGEST_HEARTBEAT_SECONDS:
            raise ValueError(f"a lease of {self.lease_seconds:g} s is extended too rarely")

    @property
    def heartbeat_seconds(self) -> float:
        """Between two signs of life: five may be missed before the claim ends."""
        return self.lease_seconds / 6

    @property
    def holding_seconds(self) -> float:
        """How long a worker counts a claim as held: less than its lease, for clocks drift apart."""
        return self.lease_seconds * 0.9


class WorkPolicy(Struct, frozen=True, kw_only=True):
    """All kinds, and what a worker does for all of them together."""

    jobs: Mapping[JobKind, JobPolicy]
    size: int = 4
    """A multiple of `JobPolicy.slots`: the default of the setting `workers`, which decides."""
    sweep_seconds: float = 5.0
    """Between two looks for claims that have ended."""
    poll_seconds: float = 0.5
    """Between two looks for work when nothing reports any."""
    grace_seconds: float = 10.0
    """How long runs may go on when the worker stops."""
    crash_wait_seconds: float = 0.2
    """After an attempt whose worker has died."""

    def in_each_row(self, **values: Any) -> "WorkPolicy":
        """This policy, with `values` for every kind of job."""
        return replace(self, jobs={kind: replace(row, **values) for kind, row in self.jobs.items()})


_DOUBLING: Final = tuple(2.0**n * _MINUTE for n in range(1, 6))

WORK_POLICY: Final = WorkPolicy(
    jobs=MappingProxyType(
        {
            # Many and small, and they share transactions.
            "webhook": JobPolicy(
                attempts=6,
                waits_seconds=_DOUBLING,
                slots=8,
                # Senders repeat messages for days, so what is known of one outlives its payload.
                payload_days=30,
                retention_days=90,
            ),
            # A call that was cut off may have happened.
            "call": JobPolicy(
                attempts=6,
                waits_seconds=_DOUBLING,
                slots=1,
                is_repeatable=False,
                retention_days=30,
            ),
            # They mostly wait for others. The schedule is the one that Standard Webhooks 1.0.0
            # recommends: the tenth attempt is 75 hours and 35 minutes after the first.
            "delivery": JobPolicy(
                attempts=10,
                waits_seconds=(
                    5.0,
                    5 * _MINUTE,
                    30 * _MINUTE,
                    *(hours * _HOUR for hours in (2, 5, 10, 14, 20, 24)),
                ),
                slots=4,
                lane_share=4,
                retention_days=30,
            ),
        }
    )
)
