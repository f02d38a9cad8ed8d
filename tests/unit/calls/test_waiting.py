"""How `Retry-After` is read."""

from datetime import UTC, datetime

from gateway.calls.waiting import MAX_SECONDS, retry_after_seconds
from tests.unit.tables import each_of

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


@each_of(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("999999999999", MAX_SECONDS),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("१२", None),
        ("Wed, 21 Oct 99999999999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2026 07:28:00 +99999999999999", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", MAX_SECONDS),
    ],
)
def test_a_number_a_date_or_nothing(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, NOW) == seconds
