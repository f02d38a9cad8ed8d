"""What a failed call says: what the upstream said, what may have changed, and when to come back."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.calls.waiting import MAX_SECONDS, retry_after_seconds
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.operation import Effect
from gateway.contract.upstream import Reply, ReplyFacts, UpstreamRequest
from gateway.errors import InvalidReply, UpstreamRejected
from tests.unit.calls.dispatched import OPEN, Upstreams, dispatch, permit_for
from tests.unit.tables import each_of


def refuse_result(arguments: Any, call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    raise Unmappable("/id", "is no number")


class WithoutToken(Upstreams):
    """Fails before the request is sent."""

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        request.departure.is_unsent = True
        raise InvalidReply("No token.")


@pytest.mark.parametrize(
    ("effect", "detail"),
    [
        (Effect.READ, "Garbage."),
        (Effect.WRITE, "Garbage. The call may have happened: check before you repeat it."),
    ],
)
async def test_a_write_whose_answer_cannot_be_read_may_have_happened(
    effect: Effect, detail: str
) -> None:
    with pytest.raises(InvalidReply) as failed:
        await dispatch(permit_for(OPEN, effect=effect), Upstreams({}, InvalidReply("Garbage.")))

    assert (failed.value.detail, failed.value.is_retryable) == (detail, False)


@pytest.mark.parametrize(
    ("effect", "detail", "body"),
    [
        (Effect.READ, "The upstream's answer breaks its contract.", None),
        (
            Effect.WRITE,
            "The upstream's answer breaks its contract. The call has happened: do not repeat it.",
            {"id": "seven"},
        ),
    ],
)
async def test_a_write_whose_answer_breaks_the_contract_has_happened(
    effect: Effect, detail: str, body: object
) -> None:
    """It says what could be read of the answer."""
    broken = replace(OPEN, results={"200": refuse_result})
    with pytest.raises(InvalidReply) as failed:
        await dispatch(
            permit_for(broken, effect=effect), Upstreams({"open": 200}, body={"id": "seven"})
        )

    assert failed.value.detail == detail
    assert getattr(failed.value.answer, "body", None) == body


async def test_a_write_whose_token_cannot_be_read_has_not_happened() -> None:
    with pytest.raises(InvalidReply) as failed:
        await dispatch(permit_for(OPEN, effect=Effect.WRITE), WithoutToken({}))

    assert failed.value.detail == "No token."


@pytest.mark.parametrize(("has_sensitive", "said"), [(False, "no Leo"), (True, "no <redacted>")])
async def test_what_the_upstream_says_repeats_no_sensitive_argument(
    has_sensitive: bool, said: str
) -> None:
    permit = permit_for(OPEN, sensitive=("/name",) if has_sensitive else ())
    with pytest.raises(UpstreamRejected) as failed:
        await dispatch(permit, Upstreams({"open": 400}, body={"message": "no Leo"}))

    assert failed.value.answer is not None
    assert failed.value.answer.sentence == said


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
