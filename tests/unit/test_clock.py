"""Time, and how it is written."""

from datetime import UTC, datetime, timedelta, timezone

from gateway.clock import MockClock
from gateway.contract.fields.conversion import rfc3339
from tests.clocks import ManualClock


def test_the_time_of_mocks_is_the_time_of_the_gateway() -> None:
    """Also when somebody sets the machine's clock: no mock may be ahead of the gateway."""
    own = ManualClock()
    mocked = MockClock(own)
    own.advance(7200)
    assert mocked.now() == own.now()
    assert mocked.monotonic() == own.monotonic()
    own.moment -= timedelta(hours=1)
    assert mocked.now() == own.now()


def test_the_time_of_mocks_can_begin_elsewhere_and_passes_as_fast() -> None:
    own = ManualClock()
    start = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    mocked = MockClock(own, start)
    own.advance(60)
    assert mocked.now() == datetime(2030, 1, 1, 0, 1, tzinfo=UTC)


def test_the_time_of_mocks_can_stand_still() -> None:
    own = ManualClock()
    start = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    still = MockClock(own, start, is_still=True)

    own.advance(1000)

    assert still.now() == datetime(2030, 1, 1, tzinfo=UTC)
    assert still.monotonic() == 1000


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=2))

    assert (
        rfc3339(datetime(2026, 11, 20, 14, 30, 0, 1500, tzinfo=east)) == "2026-11-20T12:30:00.001Z"
    )
    assert rfc3339(datetime(985, 1, 2, tzinfo=UTC)) == "0985-01-02T00:00:00.000Z"
