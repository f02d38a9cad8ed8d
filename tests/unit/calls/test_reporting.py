"""Rows that calls report, before any message about them has arrived."""

from typing import Any

import pytest

from gateway.calls.reported_rows import Recorder
from gateway.errors import StoreError
from gateway.store.records import EntityChange
from tests.clocks import NOW, ManualClock
from tests.unit import shipped

CALL = "0193a0b4-5c0e-7000-8000-000000000001"
ASKED = {
    "flight_details": {
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "passengers": 6,
        "departure_date": "2026-12-01T10:00:00-05:00",
    },
    "operator_ids": ["OP-001"],
}
MADE = {"rfp_id": "arfq-1", "status": "created", "deadline": "2026-11-21T14:30:00.000Z"}


class Rows:
    """Keeps what is written, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.changes: list[EntityChange] = []
        self._error = error

    async def write(self, changes: Any) -> None:
        if self._error is not None:
            raise self._error
        self.changes += changes


def recorder(rows: Rows) -> Recorder:
    return Recorder(shipped.catalogue().entities, rows, ManualClock())


async def test_a_request_is_reported_with_what_the_call_said() -> None:
    rows = Rows()
    await recorder(rows).record("avinode.create_rfp", ASKED, MADE, CALL)
    (change,) = rows.changes
    assert (change.kind, change.mode, change.webhook_id) == ("requests", "upsert", CALL)
    assert change.occurred_at == NOW
    assert change.values == {
        "avinode_rfp_id": "arfq-1",
        "status": "open",
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "departure_at": "2026-12-01T15:00:00Z",
        "passengers": 6,
        "quote_deadline_at": "2026-11-21T14:30:00Z",
    }


async def test_a_call_that_made_nothing_reports_nothing() -> None:
    rows = Rows()
    found = {"aircraft": [], "total": 0}
    await recorder(rows).record("avinode.search_flights", {"passengers": 6}, found, CALL)
    await recorder(rows).record("avinode.get_quotes", {}, MADE, CALL)
    assert rows.changes == []


async def test_an_id_that_is_no_uuid_gives_always_the_same_one() -> None:
    rows = Rows()
    for _ in range(2):
        await recorder(rows).record("avinode.create_rfp", ASKED, MADE, "call-1")
    first, second = rows.changes
    assert first.webhook_id == second.webhook_id
    assert len(first.webhook_id) == 36


@pytest.mark.parametrize("made", [MADE, MADE | {"deadline": "soon"}])
async def test_what_cannot_be_written_is_logged_and_hides_no_result(made, caplog) -> None:
    error = StoreError("the disk is full") if made is MADE else None
    (said,) = await recorder(Rows(error)).record("avinode.create_rfp", ASKED, made, CALL)
    assert said.startswith("The row of this call was not written: ")
    (record,) = caplog.records
    assert "avinode.create_rfp" in record.getMessage()
