"""What callers are told of their limits: in headers of each answer, and in refusals.

`RateLimit` and `RateLimit-Policy` are those of draft-ietf-httpapi-ratelimit-headers-11.
"""

from math import ceil
from typing import Final

from msgspec import Struct

from gateway.amounts import amount, in_seconds
from gateway.errors import GatewayError, LimitExceeded


class LimitStanding(Struct, frozen=True, kw_only=True):
    """What is used of one limit."""

    name: str
    max: int
    used: int
    window_seconds: int | None
    """None: a limit of calls at the same time."""
    cost: int | None = None
    """What the call takes of a budget. None: the limit is no budget."""
    left_seconds: float | None = None
    """Until something comes back. None: nothing is used, or nobody knows."""


class LimitReport:
    """Filled in by the pipeline when a call has limits. Empty for other calls."""

    __slots__ = ("standings",)

    def __init__(self) -> None:
        self.standings: tuple[LimitStanding, ...] = ()


_UNITS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


class LimitFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The limit that refused a call, for its caller. Only the caller's own use is in it."""

    name: str
    """The name of the policy in `RateLimit-Policy`."""
    used: int
    max: int
    agent: str
    tool: str | None = None
    """The operation whose contract declares the limit. None: a limit of the agent."""
    window_seconds: int | None = None
    """None: a limit of calls at the same time."""
    cost: int | None = None
    """What the call would take of a budget."""
    returns_at: str | None = None
    """When the same call would be counted, as RFC 3339. None: when another call has ended."""


class LimitUsedUp(LimitExceeded):
    """A limit of this caller is used up: try again later."""

    def __init__(self, facts: LimitFacts, violated: tuple[str, ...], seconds: float) -> None:
        """`violated`: the names of all limits that refuse the call. `seconds`: until its return."""
        super().__init__(_described(facts, seconds), retry_after_seconds=seconds)
        self.facts = facts
        self.violated = violated


class NotCounted(GatewayError):
    """The limits of this call could not be checked, so it was not made: try again."""

    stage = "admit"
    is_retryable = True
    retry_after_seconds = 5.0


def duration(seconds: int) -> str:
    """`1 hour`, `90 seconds`."""
    length, unit = next(each for each in _UNITS if seconds % each[0] == 0)
    count = seconds // length
    return amount(count, unit)


def _described(facts: LimitFacts, seconds: float) -> str:
    whose = f"calls of {facts.tool}" if facts.tool else f"calls of the agent {facts.agent}"
    if facts.window_seconds is None:
        return (
            f"{facts.used} of {facts.max} {whose} at the same time are under way. Try again when "
            "one of them has ended."
        )
    later = f"Try again in {in_seconds(max(1, round(seconds)))}, at {facts.returns_at}."
    if facts.cost is not None:
        return (
            f"The agent {facts.agent} has used {facts.used} of {facts.max} units of its budget for "
            f"this day (UTC), and this call costs {facts.cost}. {later}"
        )
    in_window = duration(facts.window_seconds)
    return f"{facts.used} of {facts.max} {whose} in {in_window} are used up. {later}"


def rate_limit_headers(report: LimitReport) -> list[tuple[bytes, bytes]]:
    """The header fields of a call's limits and of what is left of them. Empty if it has none.

    `t` is the time until something comes back: the windows move with the time.
    """
    standings = report.standings
    if not standings:
        return []
    return [
        (b"ratelimit-policy", ", ".join(map(_policy, standings)).encode("ascii")),
        (b"ratelimit", ", ".join(map(_left, standings)).encode("ascii")),
    ]


def _policy(standing: LimitStanding) -> str:
    text = f'"{standing.name}";q={standing.max}'
    if standing.window_seconds is None:
        return f'{text};qu="concurrent-requests"'
    if standing.cost is not None:
        # The draft has no unit for costs, and lets services add parameters with a prefix.
        return f"{text};w={standing.window_seconds};gateway-cost={standing.cost}"
    return f"{text};w={standing.window_seconds}"


def _left(standing: LimitStanding) -> str:
    text = f'"{standing.name}";r={max(0, standing.max - standing.used)}'
    if standing.left_seconds is None:
        return text
    return f"{text};t={max(1, ceil(standing.left_seconds))}"
