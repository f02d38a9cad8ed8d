"""Time, and how it is written."""

from datetime import UTC, datetime, timedelta, timezone

from gateway.clock import FastClock
from gateway.contract.conversion import rfc3339
from tests.clocks import ManualClock


def test_fast_time_starts_where_the_other_clock_is_and_passes_faster() -> None:
    slow = ManualClock()
    fast = FastClock(slow, speed=60)
    start = fast.now()
    assert start == slow.now()

    slow.advance(2)

    assert fast.now() - start == timedelta(minutes=2)
    assert fast.monotonic() == 1000 + 120


def test_fast_time_can_start_elsewhere_and_stand_still() -> None:
    slow = ManualClock()
    start = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    frozen = FastClock(slow, speed=0, start=start)

    slow.advance(1000)

    assert frozen.now() == datetime(2030, 1, 1, tzinfo=UTC)
    assert frozen.monotonic() == 1000


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=2))

    assert (
        rfc3339(datetime(2026, 11, 20, 14, 30, 0, 1500, tzinfo=east)) == "2026-11-20T12:30:00.001Z"
    )
    assert rfc3339(datetime(985, 1, 2, tzinfo=UTC)) == "0985-01-02T00:00:00.000Z"
