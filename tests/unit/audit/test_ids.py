"""Ids of audit records."""

import uuid
from datetime import UTC, datetime, timedelta

from gateway.ids import uuid7

MOMENT = datetime(2026, 11, 20, 14, 30, 0, 123456, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_seven() -> None:
    found = uuid.UUID(uuid7(MOMENT))

    assert found.version == 7
    assert found.variant == uuid.RFC_4122
    assert found.int >> 80 == int(MOMENT.timestamp() * 1000)


def test_ids_sort_as_their_moments_do_down_to_the_microsecond() -> None:
    moments = [MOMENT + timedelta(microseconds=step) for step in range(2500)]

    ids = [uuid7(moment) for moment in moments]

    assert ids == sorted(ids)


def test_ids_of_one_moment_differ() -> None:
    assert len({uuid7(MOMENT) for _ in range(1000)}) == 1000
