"""The run of a call's job: repeated only where that is safe."""

import pytest
from msgspec.structs import replace

from gateway.calls.jobs.running import CallRun
from gateway.errors import InvalidArguments, StoreError, UpstreamTimeout, UpstreamUnavailable
from gateway.jobs.dead_letters import DeadLetters
from gateway.jobs.outcome import Failed, Finished
from gateway.store.records import Claim, Failure, NewCall
from tests.unit.webhooks import shop

CALL = NewCall(id=shop.uuid_of("job"), operation="mail.send", arguments={}, lane="mail.send")


class OneCall:
    def __init__(self, call):
        self.found = call

    async def call(self, job_id):
        return self.found


async def outcome(raised=None, call=CALL, *, is_read=False, **values):
    async def run_call(asked):
        assert asked == CALL
        if raised:
            raise raised

    run = CallRun(OneCall(call), run_call, lambda operation: is_read)
    return await run(Claim(job=shop.job("call", "mail.send", **values), worker="w"))


async def test_a_call_that_succeeds_says_so():
    found = await outcome()
    assert isinstance(found, Finished)
    (event,) = found.changes.events
    assert event.type == "gateway.job.completed.v1"
    assert event.data == {"job_id": CALL.id, "operation": "mail.send", "attempts": 1}


def doubtful():
    error = UpstreamTimeout("The call may have happened.")
    error.is_retryable = False
    return error


@pytest.mark.parametrize(
    ("raised", "error", "is_tried_again"),
    [
        (UpstreamUnavailable(), "upstream_unavailable", True),
        (doubtful(), "upstream_timeout", False),
        (InvalidArguments.at("/to", "format", "is no address"), "invalid_arguments", False),
    ],
)
async def test_the_error_says_whether_to_try_again(raised, error, is_tried_again):
    found = await outcome(raised)
    assert found.failure.error == error
    assert (found.retry_seconds is not None) is is_tried_again


@pytest.mark.parametrize(
    "known", [{"error": "lease_expired"}, {"error": "run_timeout"}, {"actor": "gateway restore"}]
)
async def test_a_write_that_may_have_been_made_is_not_repeated_unseen(known):
    found = await outcome(pytest.fail, attempts=2, **known)
    assert (found.failure.error, found.retry_seconds) == ("outcome_unknown", None)


@pytest.mark.parametrize("error", ["lease_expired", "run_timeout"])
async def test_a_read_that_was_cut_off_is(error):
    assert isinstance(await outcome(error=error, attempts=2, is_read=True), Finished)


async def test_a_write_that_ends_by_a_defect_is_not_repeated_unseen():
    found = await outcome(ValueError("card 4111111111111111"))
    assert (found.failure.error, found.retry_seconds) == ("outcome_unknown", None)
    assert "4111" not in found.failure.detail
    with pytest.raises(ValueError):  # noqa: PT011 - the very error
        await outcome(ValueError(), is_read=True)


async def test_a_write_whose_end_cannot_be_stored_is_not_repeated_unseen():
    instead = (await outcome()).if_refused
    assert (instead.failure.error, instead.retry_seconds) == ("outcome_unknown", None)
    assert (await outcome(is_read=True)).if_refused is None


async def test_a_call_whose_arguments_are_gone_is_a_dead_letter():
    found = await outcome(call=None)
    assert isinstance(found, Failed)
    assert (found.failure.error, found.retry_seconds) == ("forgotten", None)


async def test_a_store_that_fails_is_nobodys_failure():
    with pytest.raises(StoreError):
        await outcome(StoreError("gone"), is_read=True)


async def test_a_write_during_which_the_store_fails_is_not_repeated_unseen():
    found = await outcome(StoreError("gone"))
    assert (found.failure.error, found.retry_seconds) == ("outcome_unknown", None)


def test_a_dead_call_is_announced():
    job = shop.job("call", "mail.send", attempts=6)
    (event,) = DeadLetters(lambda: shop.AT)(job, Failure(error="lease_expired")).events
    assert event.type == "gateway.job.failed.v1"
    assert event.data["error"] == "lease_expired"


def test_a_dead_webhook_is_announced_and_recorded():
    changes = DeadLetters(lambda: shop.AT)(shop.job(), Failure(error="unmappable", detail="/x"))
    (event,) = changes.events
    assert event.type == "gateway.webhook.dead_lettered.v1"
    assert event.source == "/webhooks/shop"
    assert changes.audit.outcome == "DEAD_LETTER"


def test_a_dead_delivery_is_not_announced_to_those_who_cannot_be_reached():
    changes = DeadLetters(lambda: shop.AT)(shop.job("delivery"), Failure(error="x"))
    assert changes.events == ()


@pytest.mark.parametrize("kind", ["call", "webhook", "task"])
def test_what_a_dead_worker_left_stays_in_its_trace(kind):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    job = replace(shop.job(kind), trace=trace)
    (event,) = DeadLetters(lambda: shop.AT)(job, Failure(error="lease_expired")).events
    assert event.trace == trace
