"""`POST /webhooks/<provider>` over real sockets: what is taken, and how each refusal looks."""

import json
import logging
import time
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest

from gateway.bounds.rates import Bucket
from gateway.contract.webhook import SourceRate
from tests.interaction.webhook_site import PAYLOAD, WebhookSite, request_bytes, serving_webhooks
from tests.webhook_sources import (
    ACME,
    BASIC_SECRET,
    HUB,
    OLD_SECRET,
    RETIRED_SECRET,
    STANDARD,
    credentials_of,
)

BODY = json.dumps(PAYLOAD).encode()
CANARY = "canary-7f3e9a1b5c2d"


@pytest.fixture
async def site() -> AsyncIterator[WebhookSite]:
    async with serving_webhooks() as running:
        yield running


async def test_an_authentic_message_is_stored_as_it_came_and_then_accepted(
    site: WebhookSite,
) -> None:
    extra = [("user-agent", "acme/1"), ("cookie", "a=b"), ("x-other", "1")]
    answer = await site.post_acme(extra=extra)
    assert answer.status == 202
    assert answer.json() == {"id": "wh-1", "outcome": "stored"}
    (stored,) = site.inbox.stored
    assert stored.body == BODY
    assert (stored.provider, stored.profile, stored.message_id) == ("acme", "signed", "e-1")
    assert (stored.event_type, stored.contract, stored.refusals) == ("thing_made", "digest-1", ())
    # The contract asks for the signature too, but a signature is never stored.
    assert stored.headers == {"user-agent": "acme/1"}


async def test_each_kind_of_proof_is_taken_by_one_engine(site: WebhookSite) -> None:
    now = time.time()
    pointer = json.dumps({"type": "thing_seen", "thing": "a lamp"}).encode()
    basic = credentials_of(ACME, pointer, now, secret=BASIC_SECRET, profile=1)
    sent = [
        await site.post(BODY, credentials_of(STANDARD, BODY, now), path="/webhooks/plain"),
        await site.post(BODY, credentials_of(HUB, BODY, now), path="/webhooks/hub"),
        await site.post(pointer, basic),
        await site.post(pointer, basic),
    ]
    assert [answer.status for answer in sent] == [202] * 4
    assert [(s.provider, s.profile, s.event_type) for s in site.inbox.stored] == [
        ("plain", "signed", "thing_made"),
        ("hub", "signed", "thing_made"),
        ("acme", "pointer", "thing_seen"),
        ("acme", "pointer", "thing_seen"),
    ]
    assert [s.message_id for s in site.inbox.stored[:2]] == ["msg-1", "msg-1"]
    assert len({s.message_id for s in site.inbox.stored[2:]}) == 2, "each receipt is a new message"


async def test_the_same_message_again_is_a_duplicate(site: WebhookSite) -> None:
    first, again = await site.post_acme(), await site.post_acme()
    assert (first.status, again.status) == (202, 200)
    assert again.json() == {"id": "wh-1", "outcome": "duplicate"}
    assert len(site.inbox.stored) == 1


async def test_each_message_is_counted_once_by_its_provider_and_outcome(
    site: WebhookSite,
) -> None:
    await site.post_acme()
    await site.post_acme()
    await site.post_acme({**PAYLOAD, "thing": "another"})
    await site.post(BODY, {})
    await site.post(b"{", credentials_of(STANDARD, b"{", time.time()), path="/webhooks/plain")
    await site.post(BODY, {}, path="/webhooks/nobody")
    assert site.counted == {
        ("acme", "stored"): 1,
        ("acme", "duplicate"): 1,
        ("acme", "conflict"): 1,
        ("acme", "unauthenticated"): 1,
        ("plain", "quarantined"): 1,
    }


async def test_the_same_id_with_another_body_is_a_conflict_and_kept(site: WebhookSite) -> None:
    await site.post_acme()
    answer = await site.post_acme({**PAYLOAD, "thing": "another"})
    assert answer.status == 409
    assert answer.json()["code"] == "CONFLICTING_MESSAGE"
    assert len(site.inbox.stored) == 2


async def test_a_forged_message_does_not_take_the_id_of_the_authentic_one(
    site: WebhookSite,
) -> None:
    forged = await site.post(BODY, credentials_of(ACME, BODY, time.time(), secret=RETIRED_SECRET))
    authentic = await site.post_acme()
    assert (forged.status, authentic.status) == (401, 202)


async def test_both_secrets_of_a_rotation_are_taken_and_the_retired_one_is_not(
    site: WebhookSite,
) -> None:
    now = time.time()
    statuses = [
        (await site.post(BODY, credentials_of(ACME, BODY, now, secret=secret))).status
        for secret in (OLD_SECRET, RETIRED_SECRET)
    ]
    assert statuses == [202, 401]


async def test_a_captured_message_is_a_duplicate_for_five_minutes_and_refused_after(
    site: WebhookSite,
) -> None:
    now = time.time()
    ages = (0, 295, 302)
    answers = [await site.post(BODY, credentials_of(ACME, BODY, now - age)) for age in ages]
    assert [answer.status for answer in answers] == [202, 200, 401]


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        pytest.param({**PAYLOAD, "thing": "x" * 21}, "/thing", id="schema"),
        pytest.param({**PAYLOAD, "event_type": "thing_lost"}, "/event_type", id="unknown-type"),
        pytest.param({**PAYLOAD, "event_type": "thing_seen"}, "/event_type", id="other-profile"),
        pytest.param({**PAYLOAD, "event_type": 7}, "/event_type", id="type-no-text"),
        pytest.param({**PAYLOAD, "event_id": 7}, "/event_id", id="id-no-text"),
        pytest.param({"event_type": "thing_made", "thing": "x"}, "/event_id", id="no-id"),
        pytest.param([], "/event_type", id="no-object"),
        pytest.param("text", "/event_type", id="a-text"),
        pytest.param(None, "/event_type", id="null"),
        pytest.param({**PAYLOAD, "count": 1.5}, "/count", id="no-integer"),
    ],
)
async def test_an_authentic_message_that_breaks_the_contract_is_quarantined_and_accepted(
    site: WebhookSite, payload, pointer
) -> None:
    answer = await site.post_acme(payload)
    assert answer.status == 202
    assert answer.json()["outcome"] == "quarantined"
    (stored,) = site.inbox.stored
    assert pointer in {refusal.pointer for refusal in stored.refusals}


async def test_a_message_without_its_id_is_known_again_by_its_bytes(site: WebhookSite) -> None:
    payload = {"event_type": "thing_made", "thing": "x"}
    first, again = await site.post_acme(payload), await site.post_acme(payload)
    other = await site.post_acme({**payload, "thing": "y"})
    assert [a.status for a in (first, again, other)] == [202, 200, 202]


async def test_refusals_are_few_and_hold_no_value(site: WebhookSite) -> None:
    body = {**PAYLOAD, "thing": CANARY * 5, "count": CANARY}
    await site.post_acme(body)
    (stored,) = site.inbox.stored
    assert 0 < len(stored.refusals) <= 20
    assert CANARY not in repr(stored.refusals)


# Numbers beyond 64 bits: the schema says integer, and they are.
@pytest.mark.parametrize("number", [2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**100])
async def test_a_large_integer_is_never_an_error_of_ours(site: WebhookSite, number: int) -> None:
    answer = await site.post_acme({**PAYLOAD, "count": number})
    assert answer.status in {202, 400}


async def test_only_listed_networks_may_send() -> None:
    async with serving_webhooks(networks=[ip_network("192.0.2.0/24")]) as site:
        answer = await site.post_acme(extra=[("x-forwarded-for", "192.0.2.1")])
        assert answer.status == 403, "nobody's word is taken for where a message comes from"
        assert answer.json()["code"] == "FORBIDDEN_NETWORK"
    async with serving_webhooks(networks=[ip_network("127.0.0.0/8")]) as site:
        assert (await site.post_acme()).status == 202
    async with serving_webhooks(networks=[]) as site:
        assert (await site.post_acme()).status == 403, "an empty list admits nobody"


async def test_a_proxy_says_who_sends() -> None:
    listed = [ip_network("192.0.2.0/24")]
    async with serving_webhooks(networks=listed, proxies=["127.0.0.0/8"]) as site:
        reported = {"192.0.2.1": 202, "192.0.2.1, 203.0.113.1": 403, "203.0.113.1, 192.0.2.2": 200}
        for text, status in reported.items():
            answer = await site.post_acme(extra=[("x-forwarded-for", text)])
            assert answer.status == status, text
        assert (await site.post_acme()).status == 403, "a proxy that names nobody is nobody"


async def test_too_many_messages_are_refused_before_they_are_read(site: WebhookSite) -> None:
    source = site.sources["acme"]
    source.buckets.budget = Bucket(SourceRate(per_second=0.5, burst=2), site.clock.monotonic())
    payloads = [{**PAYLOAD, "event_id": f"e-{n}"} for n in range(3)]
    answers = [await site.post_acme(payload) for payload in payloads]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 2
    head = request_bytes(BODY, credentials_of(ACME, BODY, time.time()))[: -len(BODY)]
    assert (await site.send(head)).status == 429
    site.clock.seconds += 2
    assert (await site.post_acme(payloads[2])).status == 202


async def test_who_has_no_secret_cannot_use_up_what_a_source_may_send(site: WebhookSite) -> None:
    source = site.sources["acme"]
    source.buckets.budget = Bucket(SourceRate(per_second=0.001, burst=1), site.clock.monotonic())
    for _ in range(5):
        assert (await site.post(BODY, [])).status == 401
    assert (await site.post_acme()).status == 202


async def test_a_store_that_fails_is_answered_with_503_and_the_time_to_come_back(
    site: WebhookSite,
) -> None:
    site.inbox.fail()
    answer = await site.post_acme()
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["retryable"] is True
    assert "database" not in answer.json()["detail"]
    site.inbox.failure = None
    assert (await site.post_acme()).status == 202


async def test_refusals_are_reported_once_in_a_while_and_without_what_was_sent(
    site: WebhookSite, caplog: pytest.LogCaptureFixture
) -> None:
    body = json.dumps({**PAYLOAD, "thing": CANARY}).encode()
    credentials = credentials_of(ACME, body, time.time(), secret=RETIRED_SECRET) | {
        "x-acme-other": CANARY
    }
    with caplog.at_level(logging.DEBUG):
        for _ in range(20):
            await site.post(body, credentials)
        site.clock.seconds += 11
        await site.post(body, credentials)
        await site.post(b'{"event_id": ' + CANARY.encode(), [])
    reported = [r.getMessage() for r in caplog.records if r.name.startswith("gateway")]
    assert reported == [
        "webhooks of acme refused: UnauthenticatedMessage (1 times)",
        "webhooks of acme refused: UnauthenticatedMessage (20 times)",
    ]
    assert CANARY not in caplog.text
    assert credentials["x-acme-signature"] not in caplog.text
