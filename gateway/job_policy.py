"""The job policies: how jobs of each kind are run, retried and retained.

These numbers are defined only here. A program can pass its own policy to `Gateway.set_work_policy`,
`open_store` and `Worker`. The settings `workers`, `webhook_days`, `webhook_id_days` and `job_days`
take their defaults from here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.operation import JOB_AFTER_SECONDS

JobKind = Literal["webhook", "delivery", "call", "task"]

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0


LONGEST_HEARTBEAT_SECONDS: Final = 60.0
"""A live worker extends each of its leases within this time.

The worker waits for one heartbeat, and then extends them within the time of another one."""


class JobPolicy(Struct, frozen=True, kw_only=True):
    """The policy for one kind of job."""

    attempts: int
    """The maximum number of attempts. If the last one fails or its worker dies, the job becomes a
    dead letter. A job keeps the number with which it was created."""
    waits_seconds: tuple[float, ...]
    """The waits after the first attempt, the second, …: one for each attempt but the last. A job
    with more attempts repeats the last of these waits."""
    jitter: tuple[float, float] = (0.8, 1.2)
    """Each wait is multiplied by a random number in this range. So jobs that failed at the same
    time do not try again at the same time."""
    busy_wait_seconds: float = 1.0
    """The wait after an attempt that a limit of the gateway, a stop or a failure of the store
    ended. Such an attempt does not count."""
    limited_wait_seconds: tuple[float, float] = (5.0, _HOUR)
    """The shortest and the longest wait after an attempt that an upstream's rate limit ended. The
    upstream's `Retry-After` is limited to this range. Such an attempt does not count."""
    alone_from_attempt: int = 3
    """If the worker of a job died, the job runs alone from this attempt on. If the job is the
    cause, no other job loses attempts with it."""
    is_repeatable: bool = True
    """Whether a run that is cancelled when the worker stops may start again at once. If not, its
    lease expires, and the next attempt sees the error `lease_expired`."""
    slots: int
    """The number of jobs that run at the same time, for each unit of `WorkPolicy.size`."""
    lane_share: int | None = None
    """One lane gets at most this fraction of the slots (4: a quarter), so that a slow lane leaves
    slots for the others. None means no limit."""
    slow_after_seconds: float | None = None
    """A job that runs for longer leaves its slot to others: it waits for another system. Its lane
    gets no more jobs while it has a quarter of the slots or more. None: a job has its slot until it
    ends."""
    lease_seconds: float = 30.0
    """How long a claim is valid without a heartbeat."""
    timeout_seconds: float = 120.0
    """The time limit of one run."""
    retention_days: float
    """How long an ended job and its attempts are kept. The settings `webhook_id_days` and
    `job_days` override it."""
    payload_days: float | None = None
    """How long the body of a webhook is kept after its job has ended, if that is shorter. The
    setting `webhook_days` overrides it."""

    def __post_init__(self) -> None:
        """Raise `ValueError` if the heartbeats are too rare.

        A correction of the store's clock shortens leases to `LONGEST_HEARTBEAT_SECONDS` from then
        on. A live worker must extend them before that.
        """
        if 2 * self.heartbeat_seconds > LONGEST_HEARTBEAT_SECONDS:
            raise ValueError(f"a lease of {self.lease_seconds:g} s is extended too rarely")

    @property
    def heartbeat_seconds(self) -> float:
        """The time between two heartbeats. It is short enough for several of them to fail."""
        return self.lease_seconds / 6

    @property
    def holding_seconds(self) -> float:
        """How long a worker relies on a claim: shorter than the lease, because clocks differ."""
        return self.lease_seconds * 0.9


class WorkPolicy(Struct, frozen=True, kw_only=True):
    """The policies of all kinds of jobs, and the numbers that they share."""

    jobs: Mapping[JobKind, JobPolicy]
    size: int = 4
    """The factor for `JobPolicy.slots`. The setting `workers` overrides it."""
    sweep_seconds: float = 5.0
    """The time between two searches for expired claims."""
    poll_seconds: float = 0.5
    """The time between two searches for jobs when no job was announced."""
    idle_poll_seconds: float = 0.0
    """The longest time between them while there are no jobs. It may be long where only this process
    adds jobs. At 0 it is `poll_seconds`."""
    grace_seconds: float = 10.0
    """How long runs may continue when the worker stops. A gateway gives them as long as calls."""
    crash_wait_seconds: float = 0.2
    """The wait after an attempt whose worker died."""
    job_after_seconds: float = JOB_AFTER_SECONDS
    """How long a call may take until it becomes a job, if its contract says `task: auto`."""

    def in_each_row(self, **values: Any) -> "WorkPolicy":
        """A copy of this policy, with `values` set for every kind of job."""
        return replace(self, jobs={kind: replace(row, **values) for kind, row in self.jobs.items()})


_DOUBLING: Final = tuple(2.0**n * _MINUTE for n in range(1, 6))

WORK_POLICY: Final = WorkPolicy(
    jobs=MappingProxyType(
        {
            # Webhooks are many and small, and they share transactions.
            "webhook": JobPolicy(
                attempts=6,
                waits_seconds=_DOUBLING,
                slots=8,
                # Some wait for the object that they name.
                slow_after_seconds=1.0,
                # Senders repeat messages for days, so the message id is kept longer than the body.
                payload_days=30,
                retention_days=90,
            ),
            # A cancelled call may have had its effect.
            "call": JobPolicy(
                attempts=6,
                waits_seconds=_DOUBLING,
                slots=1,
                is_repeatable=False,
                retention_days=30,
            ),
            # The call of a caller, who asks how it is. A call that failed is not repeated: only one
            # that reads, if its worker has died.
            "task": JobPolicy(
                attempts=3,
                waits_seconds=(1.0, 5.0),
                slots=4,
                lane_share=2,
                timeout_seconds=330.0,
                is_repeatable=False,
                retention_days=30,
            ),
            # A delivery mostly waits for its endpoint. Standard Webhooks 1.0.0 recommends this
            # schedule: the tenth attempt is 75 hours and 35 minutes after the first.
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
