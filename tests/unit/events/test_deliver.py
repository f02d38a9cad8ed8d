"""One attempt to deliver: what reaches the subscriber, and what each answer means."""

import json
import re
from datetime import timedelta
from email.utils import format_datetime
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.http.outbound import NoAnswer, Outbound, PostAnswer
from gateway.clock import MockClock, SystemClock
from gateway.errors import StoreError
from gateway.events.address import AddressRules
from gateway.events.deliver import Deliver, DeliverySender, verdict_of
from gateway.events.secrets import Keyring
from gateway.jobs.outcome import Finished
from gateway.store.records import DeliveryOutcome
from tests.clocks import NOW
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import Received, answer, is_signed, receiver
from tests.unit.events.shelf import KEYRING, Shelf, an_event
from tests.unit.tables import each_of

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
HERE = AddressRules([ip_network("127.0.0.0/8")])


@pytest.fixture
async def sender():
    outbound = Outbound(HERE.refusal, timeout_seconds=PATIENCE_SECONDS)
    yield outbound
    await outbound.close()


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def deliver(shelf, sender):
    return Deliver(shelf, DeliverySender(sender, KEYRING, SystemClock()))


async def test_a_delivery_is_signed_over_the_bytes_that_are_sent(deliver, shelf):
    event = an_event()
    async with receiver() as (port, got):
        endpoint, secret = shelf.hold(f"http://127.0.0.1:{port}/hooks")
        outcome = await deliver(shelf.claim(endpoint, event))
    (request,) = got
    assert is_signed(request, secret)
    assert request.headers["content-type"] == "application/cloudevents+json"
    assert request.headers["webhook-id"] == event.id
    assert json.loads(request.body) == {
        "specversion": "1.0",
        "id": event.id,
        "source": "/webhooks/avinode",
        "type": "gateway.quote.received.v1",
        "subject": "quote-1",
        "time": "2026-11-20T14:30:00Z",
        "datacontenttype": "application/json",
        "data": {"quote_id": "quote-1", "price": "1234.50", "note": "Zürich ✈"},
    }
    note = DeliveryOutcome(endpoint_id=endpoint.id, is_success=True)
    assert isinstance(outcome, Finished)
    assert outcome.changes.delivery == note


@pytest.mark.parametrize(("forwarding", "named"), [("off", None), ("ids", PARENT), ("all", PARENT)])
async def test_an_event_names_its_trace_if_other_hosts_may_know(shelf, sender, forwarding, named):
    deliver = Deliver(shelf, DeliverySender(sender, KEYRING, SystemClock(), forwarding))
    async with receiver() as (port, got):
        endpoint, secret = shelf.hold(f"http://127.0.0.1:{port}/hooks")
        await deliver(shelf.claim(endpoint, an_event(trace=PARENT)))
    assert is_signed(got[0], secret)
    assert json.loads(got[0].body).get("traceparent") == named


def test_the_verifier_of_these_tests_knows_the_published_vector_and_refuses_others():
    """Else it would prove nothing."""
    secret, then = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330
    fields = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": str(then),
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    authentic = Received("POST", "/", fields, b'{"test": 2432232314}')
    assert is_signed(authentic, secret, then + 299)
    assert not is_signed(authentic, secret, then + 301)
    changed = Received("POST", "/", fields, b'{"test":2432232314}')
    assert not is_signed(changed, secret, then)


async def test_each_attempt_has_the_same_id_and_bytes_and_its_own_time(deliver, shelf, sender):
    event, clock = an_event(), SystemClock()
    an_hour_on = MockClock(clock, clock.now() + timedelta(hours=1))
    later = Deliver(shelf, DeliverySender(sender, KEYRING, an_hour_on))
    async with receiver(answer(503)) as (port, got):
        endpoint, secret = shelf.hold(f"http://127.0.0.1:{port}/")
        await deliver(shelf.claim(endpoint, event))
        await later(shelf.claim(endpoint, event, attempts=2))
    first, second = got
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    then = an_hour_on.now().timestamp()
    assert [is_signed(each, secret, then) for each in got] == [False, True]


async def test_during_a_rotation_both_secrets_sign_and_afterwards_one(deliver, shelf):
    async with receiver() as (port, got):
        endpoint, new = shelf.hold(f"http://127.0.0.1:{port}/")
        old = "whsec_" + "b2xk" * 8
        previous = {"previous_secret": KEYRING.seal(old, endpoint.id)}
        now = SystemClock().now()
        for until in (now + timedelta(hours=1), now - timedelta(seconds=1)):
            await shelf.change(endpoint.id, previous | {"previous_until": until})
            await deliver(shelf.claim(endpoint))
    assert [(is_signed(each, old), is_signed(each, new)) for each in got] == [
        (True, True),
        (False, True),
    ]
    assert [len(each.headers["webhook-signature"].split()) for each in got] == [2, 1]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 599])
async def test_what_passes_is_tried_again_by_the_schedule(deliver, shelf, status):
    async with receiver(answer(status)) as (port, _):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        waits = [
            (await deliver(shelf.claim(endpoint, attempts=attempt))).retry_seconds
            for attempt in range(1, 11)
        ]
    schedule = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)
    assert waits.pop() is None, "the tenth attempt is the last"
    assert all(0.8 * base <= wait <= 1.2 * base for base, wait in zip(schedule, waits, strict=True))


@pytest.mark.parametrize(
    ("asked", "least", "most"), [("1", 4, 6), ("120", 120, 120), ("999999", 3600, 3600)]
)
async def test_retry_after_lengthens_the_wait_up_to_an_hour(deliver, shelf, asked, least, most):
    async with receiver(answer(429, f"Retry-After: {asked}\r\n")) as (port, _):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        outcome = await deliver(shelf.claim(endpoint))
    assert least <= outcome.retry_seconds <= most


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 405, 413, 415, 422])
async def test_an_endpoint_that_is_being_deployed_gets_the_event_later(deliver, shelf, status):
    """A redirect is not followed."""
    async with receiver(answer(status, "Location: http://127.0.0.1/\r\n")) as (port, got):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        outcome = await deliver(shelf.claim(endpoint))
    assert 4 <= outcome.retry_seconds <= 6
    assert outcome.failure.detail == f"HTTP {status}"
    assert outcome.changes.delivery == DeliveryOutcome(endpoint_id=endpoint.id, is_success=False)
    assert outcome.changes.events == ()
    assert len(got) == 1


async def test_an_endpoint_that_is_gone_is_disabled_and_that_is_an_event(deliver, shelf):
    async with receiver(answer(410)) as (port, _):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        outcome, another = [await deliver(shelf.claim(endpoint)) for _ in range(2)]
        await shelf.change(endpoint.id, {"updated_at": NOW + timedelta(seconds=1)})
        later = await deliver(shelf.claim(endpoint))
    assert (outcome.failure.error, outcome.retry_seconds) == ("endpoint_gone", None)
    assert outcome.changes.delivery.disable_because == "gone"
    (event,) = outcome.changes.events
    assert (event.type, event.subject) == ("gateway.endpoint.disabled.v1", endpoint.id)
    assert event.data == {"endpoint_id": endpoint.id, "reason": "gone", "failing_since": None}
    assert another.changes.events[0].id == event.id, "under way at the same time: one event"
    assert later.changes.events[0].id != event.id, "it was enabled meanwhile: another one"


@pytest.mark.parametrize(("days", "because"), [(4.99, None), (5.0, "failing"), (9.0, "failing")])
async def test_an_endpoint_that_has_only_failed_for_five_days_is_disabled(
    deliver, shelf, days, because
):
    async with receiver(answer(500)) as (port, _):
        since = NOW - timedelta(days=days)
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/", failing_since=since)
        first, second = [await deliver(shelf.claim(endpoint, attempts=2)) for _ in range(2)]
    assert first.changes.delivery.disable_because == because
    assert (first.retry_seconds is None) == (because is not None)
    assert [each.data["reason"] for each in first.changes.events] == ([because] if because else [])
    assert [each.id for each in first.changes.events] == [each.id for each in second.changes.events]


async def test_one_success_after_days_of_failure_is_a_success(deliver, shelf):
    async with receiver() as (port, _):
        since = NOW - timedelta(days=6)
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/", failing_since=since)
        outcome = await deliver(shelf.claim(endpoint))
    assert isinstance(outcome, Finished)
    assert outcome.changes.delivery.is_success


async def test_a_disabled_endpoint_gets_nothing(deliver, shelf):
    async with receiver() as (port, got):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/", state="disabled")
        outcome = await deliver(shelf.claim(endpoint))
    assert (outcome.failure.error, outcome.retry_seconds) == ("endpoint_disabled", None)
    assert outcome.changes.delivery is None
    assert got == []


async def test_a_removed_endpoint_gets_nothing(deliver, shelf):
    endpoint, _ = shelf.hold("http://127.0.0.1:9/")
    claim = shelf.claim(endpoint)
    await shelf.remove(endpoint.id)
    outcome = await deliver(claim)
    assert (outcome.failure.error, outcome.retry_seconds) == ("endpoint_removed", None)


async def test_an_address_that_may_not_be_reached_is_a_dead_letter_at_once(deliver, shelf):
    endpoint, _ = shelf.hold("https://10.0.0.1/hooks?token=hunter2")
    outcome = await deliver(shelf.claim(endpoint))
    assert (outcome.failure.error, outcome.retry_seconds) == ("address_refused", None)
    assert outcome.failure.detail == "the host's address is private"


async def test_a_secret_whose_key_is_lost_waits_for_it_and_blames_nobody(shelf, sender):
    endpoint, _ = shelf.hold("http://127.0.0.1:9/", failing_since=NOW - timedelta(days=9))
    other = Deliver(shelf, DeliverySender(sender, Keyring([b"x" * 32]), SystemClock()))
    outcome = await other(shelf.claim(endpoint))
    assert outcome.failure.error == "secret_unreadable"
    assert "GATEWAY_SECRETS_KEY" in outcome.failure.detail
    assert outcome.retry_seconds is not None
    assert outcome.changes.delivery is None


async def test_what_a_subscriber_says_is_shown_without_secrets_and_harmless(deliver, shelf):
    async def _repeat(request, writer):
        signature = request.headers["webhook-signature"]
        echoed = f"\x1b[31mno\x00 {secret} {signature} tok-12345678 \u202e".encode()
        await answer(422, body=echoed + b"\xff" + b"z" * 9000)(request, writer)

    async with receiver(_repeat) as (port, _):
        endpoint, secret = shelf.hold(f"http://127.0.0.1:{port}/?token=tok-12345678")
        outcome = await deliver(shelf.claim(endpoint))
    detail = outcome.failure.detail
    assert detail.startswith("HTTP 422: [31mno *** *** ***")
    assert secret.removeprefix("whsec_") not in detail
    assert detail.isprintable()
    assert len(detail) < 600


async def test_what_the_store_raises_is_the_workers(deliver, shelf, monkeypatch):
    async def _fails(_id):
        raise StoreError("the database is locked")

    monkeypatch.setattr(shelf, "delivery", _fails)
    endpoint, _ = shelf.hold("http://127.0.0.1:9/")
    with pytest.raises(StoreError):
        await deliver(shelf.claim(endpoint))


async def test_the_class_of_each_answer_is_counted(shelf, sender):
    seen = []
    parts = shelf, DeliverySender(sender, KEYRING, SystemClock())
    deliver = Deliver(*parts, observe=lambda *found: seen.append(found))
    for status in (204, 503, 410):
        async with receiver(answer(status)) as (port, _):
            endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
            await deliver(shelf.claim(endpoint))
    endpoint, _ = shelf.hold("http://127.0.0.1:9/")
    await deliver(shelf.claim(endpoint))
    answers = ["2xx", "5xx", "4xx", "unreachable"]
    assert seen == [(each, "working") for each in answers]


@pytest.mark.parametrize(
    ("failing_since", "standing"),
    [
        (None, "working"),
        (NOW, "failing"),
        (NOW - timedelta(minutes=59), "failing"),
        (NOW - timedelta(hours=1), "away"),
    ],
)
async def test_a_count_names_a_class_of_endpoints(shelf, sender, failing_since, standing):
    seen = []
    parts = shelf, DeliverySender(sender, KEYRING, SystemClock())
    deliver = Deliver(*parts, observe=lambda *found: seen.append(found))
    endpoint, _ = shelf.hold("http://127.0.0.1:9/", failing_since=failing_since)
    await deliver(shelf.claim(endpoint))
    assert seen == [("unreachable", standing)]


async def test_the_check_in_the_guide_distinguishes_authentic_from_changed(deliver, shelf):
    """The code that the guide gives to subscribers, run as printed."""
    guide = Path(__file__).parents[3] / "docs" / "call" / "events.md"
    (program,) = re.findall(r"```python\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    written: dict[str, object] = {}
    exec(program, written)  # noqa: S102 - our own page
    is_from_the_gateway = written["is_from_the_gateway"]
    async with receiver() as (port, got):
        endpoint, secret = shelf.hold(f"http://127.0.0.1:{port}/")
        await deliver(shelf.claim(endpoint))
    (request,) = got
    assert is_from_the_gateway(secret, request.headers, request.body)
    assert not is_from_the_gateway(secret, request.headers, request.body + b" ")
    assert not is_from_the_gateway("whsec_" + "b2xk" * 8, request.headers, request.body)


@each_of("status", range(100, 600))
def test_of_all_statuses_only_2xx_delivers_and_all_others_but_gone_are_tried_again(status):
    """An endpoint may answer 401, 404 or a redirect while its owner deploys it."""
    verdict = verdict_of(PostAnswer(status=status), NOW)
    assert (verdict.error is None) == (200 <= status < 300)
    assert verdict.is_retryable == (not 200 <= status < 300 and status != 410)
    assert verdict.is_gone == (status == 410)
    assert verdict.answer == f"{str(status)[0]}xx"


@pytest.mark.parametrize(
    ("reason", "error", "is_retryable"),
    [
        ("timeout", "endpoint_timeout", True),
        ("unreachable", "endpoint_unreachable", True),
        ("unresolved", "endpoint_unresolved", True),
        ("untrusted", "endpoint_untrusted", True),
        ("broken", "endpoint_broken", True),
        ("address_refused", "address_refused", False),
    ],
)
def test_no_answer_is_tried_again_unless_the_address_is_refused(reason, error, is_retryable):
    verdict = verdict_of(NoAnswer(reason=reason, detail="words"), NOW)
    assert (verdict.answer, verdict.error, verdict.detail) == (reason, error, "words")
    assert verdict.is_retryable == is_retryable


@each_of(
    ("field", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        ("0", 0.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        ("Fri, 20 Nov 2026 14:31:30 -0000", 90.0),
        ("", None),
        ("-1", None),
        ("+5", None),
        ("1e9", None),
        ("1_0", None),
        ("٣", None),
        ("9" * 11, None),
        ("soon", None),
        ("Fri, 99 Nov 2026 14:31:30 GMT", None),
        ("1 Jan 99999999999999999999 00:00:00", None),
        ("Thu, 01 Jan 2026 00:00:00 +99999999999999", None),
        ("Thu, 01 Jan 2026 00:00:00 -99999999999999999999999", None),
    ],
)
def test_retry_after_is_read_in_both_its_forms_and_in_no_other(field, seconds):
    assert verdict_of(PostAnswer(status=503, retry_after=field), NOW).asked_seconds == seconds


@given(st.text())
def test_any_retry_after_is_survived(field):
    asked = verdict_of(PostAnswer(status=429, retry_after=field), NOW).asked_seconds
    assert asked is None or asked >= 0
