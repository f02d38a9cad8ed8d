"""Arguments and answers of calls: validated, reported, and told without what is sensitive."""

from typing import Any

import pytest

from gateway.audit.facts import logged_text
from gateway.auth.authorize import Policy
from gateway.auth.principal import Grant, Permit, Principal
from gateway.calls.call import Outcome
from gateway.calls.changes import hide_sensitive
from gateway.calls.reported_rows import Recorder
from gateway.calls.validation import check_result, decode_arguments
from gateway.catalogue import Entry
from gateway.contract.operation import Effect, Escalation
from gateway.contract.refusals import UpstreamAnswer
from gateway.contract.values.schema import Validator
from gateway.errors import (
    InvalidArguments,
    InvalidResult,
    MalformedRequest,
    NotPermitted,
    StoreError,
    UpstreamNotSetUp,
)
from gateway.store.records import EntityChange
from tests.clocks import NOW, ManualClock
from tests.unit import shipped
from tests.unit.calls.shop import operation

PERMIT = Permit(Grant(None, None))  # type: ignore[arg-type]  # what is no JSON meets no schema


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (b"[" + b'{"a":[1]},' * 10_001 + b"1]", "more than 10000 names"),
        (b'{"a":[' + b"1," * 100_000 + b"1]}", "more than 100000 values"),
    ],
)
def test_arguments_that_hold_too_much_are_refused_before_their_schema_is_asked(
    text: bytes, detail: str
) -> None:
    """Checking them all would keep every other caller waiting for the better part of a second."""
    with pytest.raises(MalformedRequest, match=detail):
        decode_arguments(PERMIT, text)


ESCALATION = Escalation(when="buy", grant="shop.order", requires=("key",))


def permit(agent: str = "buyer") -> Permit:
    entry = Entry(
        operation(escalation=ESCALATION), None, None, Validator({"type": "object"}), Validator({})
    )  # type: ignore[arg-type]  # neither tool nor listing is looked at
    return Permit(Grant(Principal(subject="key", agent=agent), entry))


@pytest.mark.parametrize("text", [b"{}", b'{"buy":false}', b'{"buy":false,"key":"k"}'])
def test_without_its_argument_an_escalating_tool_is_a_read(text: bytes) -> None:
    assert decode_arguments(permit().entry, text).effect is Effect.READ


def test_the_argument_makes_it_a_write() -> None:
    assert decode_arguments(permit().entry, b'{"buy":true,"key":"k"}').effect is Effect.WRITE


def test_an_escalation_requires_what_its_contract_says() -> None:
    with pytest.raises(InvalidArguments) as invalid:
        decode_arguments(permit().entry, b'{"buy":true}')

    (violation,) = invalid.value.violations
    assert (violation.pointer, violation.keyword) == ("/key", "required")


def test_an_escalation_needs_its_own_grant() -> None:
    policy = Policy(
        {"buyer": frozenset({"shop.buy", "shop.order"}), "reader": frozenset({"shop.buy"})}
    )

    policy.authorize_arguments(permit("buyer").grant, {}, Effect.WRITE)
    policy.authorize_arguments(permit("reader").grant, {}, Effect.READ)
    with pytest.raises(NotPermitted, match="buy"):
        policy.authorize_arguments(permit("reader").grant, {}, Effect.WRITE)


def test_a_result_that_needs_its_hidden_characters_is_not_sent() -> None:
    """The error names the check that failed, and nothing of the text."""
    schema = {"properties": {"name": {"pattern": "^a\u200b$"}}}
    entry = Entry(operation(), None, None, Validator({}), Validator(schema))  # type: ignore[arg-type]  # neither tool nor listing is looked at
    with pytest.raises(InvalidResult) as invalid:
        check_result(
            Permit(Grant(Principal(subject="key", agent="buyer"), entry)),
            Outcome({"name": "a\u200b"}, "mock"),
        )
    (violation,) = invalid.value.violations
    assert violation.detail == "breaks the output schema once hidden characters are removed"


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


GIVEN = {"table": "iso_workflows", "data": {"state": "Very private words"}}


@pytest.mark.parametrize(
    ("said", "is_logged"),
    [
        ("Could not find the table in the schema cache", True),
        ("Could not find 'Very private words'", False),
        ("Could not find the PRIVATE table", False),
    ],
)
def test_a_sentence_that_shares_a_word_with_them_stays_out_of_the_log(
    said: str, is_logged: bool
) -> None:
    error = UpstreamNotSetUp("Run tables.sql.")
    error.answer = UpstreamAnswer(status=404, body={"message": said})
    error.is_answer_logged = True

    hide_sensitive(error, shipped.catalogue().find("supabase.insert").operation, GIVEN)

    assert (said in logged_text(error)) is is_logged
    assert "Very private words" not in str(error.answer)
