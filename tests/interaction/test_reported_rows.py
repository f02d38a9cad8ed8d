"""The row that a call reports is stored before the answer is, or the record of the call says so."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.app import Gateway
from gateway.errors import StoreError
from tests.eventually import eventually
from tests.interaction.operated import operated

FLIGHT: Final = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 4,
}


async def fail(*_: Any) -> None:
    raise StoreError("the disk is full")


async def requested(http: Any, key: str) -> Any:
    departure = (datetime.now(UTC) + timedelta(days=20)).strftime("%Y-%m-%dT10:00:00Z")
    flight = {**FLIGHT, "departure_date": departure}
    asked = {"flight_details": flight, "operator_ids": ["OP-001"]}
    return await http.post("/v1/avinode/create_rfp", json=asked, headers={"idempotency-key": key})


async def rows(http: Any) -> list[Any]:
    found: list[Any] = (await http.post("/v1/entities/requests", json={})).json()["items"]
    return found


async def detail(gateway: Gateway) -> str | None:
    records = await gateway.parts.store.audit.latest(9)
    done = [each.detail for each in records if each.operation == "avinode.create_rfp"]
    return done[0] if done else None


async def test_the_row_is_stored_before_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with operated(tmp_path) as (gateway, http):
        monkeypatch.setattr(gateway.parts.store.keyed_calls, "end", fail)
        answer = await requested(http, "a-key-whose-answer-is-lost")

        assert answer.json()["type"].endswith("not-recorded")
        assert len(await rows(http)) == 1


async def test_a_row_that_is_not_stored_is_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with operated(tmp_path) as (gateway, http):
        with monkeypatch.context() as patch:
            patch.setattr(gateway.parts.store.entities, "write", fail)
            answer = await requested(http, "a-key-whose-row-is-lost")

        assert answer.status_code == 200, answer.text
        assert await rows(http) == []
        said = await eventually(partial(detail, gateway))
        assert said == "The row of this call was not written: the disk is full"
