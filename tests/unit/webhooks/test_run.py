"""The run of a webhook's job: checked by today's contract, fetched where it points, recorded."""

import pytest
from msgspec.structs import replace

from gateway.calls.guard import NotSent
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.errors import (
    InvalidReply,
    LimitExceeded,
    StoreError,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from gateway.jobs.outcome import Failed, Finished, Released
from gateway.signatures.received import RequestPlace
from gateway.store.records import Claim, Mismatch
from gateway.webhooks.processing import Effects, Pointers, WebhookRun, leads_below
from tests.unit.tables import each_of
from tests.unit.webhooks import shop

PAYLOAD = {"id": "1", "number": "A1", "total": 20.0}
POINTER = {"type": "order_changed", "ref": "R1", "href": f"{shop.BASE}/orders/R1"}
CLAIM = Claim(job=shop.job(), worker="w")


class OneWebhook:
    def __init__(self, webhook):
        self.webhook = webhook

    async def find_all(self, webhook_ids):
        if isinstance(self.webhook, Exception):
            raise self.webhook
        return [self.webhook] if self.webhook else []


def run_of(webhook, reply=None, sources=None, base_urls=None):
    asked = []

    async def fetch_from(*request):
        asked.append(request)
        if isinstance(reply, Exception):
            raise reply
        return reply

    run = WebhookRun(
        OneWebhook(webhook),
        {"shop": shop.opened()} if sources is None else sources,
        Effects(shop.SHAPES, {"gateway.order.paid.v1": Validator(shop.PAID)}, lambda: shop.AT),
        Pointers(fetch_from, {"shop": shop.BASE} if base_urls is None else base_urls),
        lambda: shop.AT,
    )
    return run, asked


async def outcome(webhook, reply=None, sources=None):
    run, _ = run_of(webhook, reply, sources)
    return await run(CLAIM)


async def error_of(webhook, reply=None, sources=None):
    found = await outcome(webhook, reply, sources)
    assert isinstance(found, Failed)
    return found.failure.error, found.retry_seconds is not None


async def test_a_message_leaves_its_changes_and_one_record_without_payload():
    found = await outcome(shop.webhook(PAYLOAD))
    assert isinstance(found, Finished)
    assert [event.type for event in found.changes.events] == ["gateway.order.paid.v1"]
    record = found.changes.audit
    assert (record.transport, record.operation) == ("webhook", "shop.order_paid")
    assert (record.request_id, record.outcome) == (shop.uuid_of("webhook"), "ok")
    assert record.arguments is None


async def test_a_message_that_todays_contract_refuses_is_a_dead_letter_with_the_place():
    changed = dict(shop.PAYLOADS, order_paid={"required": ["currency"]})
    sources = {"shop": shop.opened(payloads=changed)}
    found = await outcome(shop.webhook(PAYLOAD), sources=sources)
    assert (found.failure.error, found.retry_seconds) == ("contract_changed", None)
    assert "/currency is required" in found.failure.detail


@each_of(
    ("webhook", "sources", "error"),
    [
        (None, None, "forgotten"),
        (shop.webhook(PAYLOAD, body=None), None, "forgotten"),
        (shop.webhook(PAYLOAD), {}, "contract_changed"),
        (shop.webhook(PAYLOAD, "order_lost"), None, "contract_changed"),
        (shop.webhook(PAYLOAD, profile="pointer"), None, "contract_changed"),
        (shop.webhook(PAYLOAD, body=b"{]"), None, "contract_changed"),
        (shop.webhook(PAYLOAD | {"due": "soon"}), None, "unmappable"),
        (shop.webhook(PAYLOAD | {"amount": "x"}), None, "broken_promise"),
    ],
)
async def test_what_no_attempt_can_fix_is_a_dead_letter_at_once(webhook, sources, error):
    assert await error_of(webhook, sources=sources) == (error, False)


async def test_a_derived_message_needs_no_profile():
    derived = shop.webhook(PAYLOAD, profile="pointer", derived_from="w0")
    assert isinstance(await outcome(derived), Finished)


@pytest.mark.parametrize(
    ("message_id", "tenant"), [("north/1/2", "north"), ("1", ""), ("sha256:ab", "")]
)
async def test_a_message_and_what_is_derived_of_it_have_its_tenant(message_id, tenant):
    source = shop.opened(tenant=RequestPlace(header="x-shop"))
    pointer = shop.webhook(POINTER, "order_changed", "pointer", message_id=message_id)
    assert source.facts(pointer).tenant == tenant
    run, _ = run_of(pointer, {"orders": [PAYLOAD]}, {"shop": source})
    (derived,) = (await run(CLAIM)).changes.webhooks
    assert derived.message_id == (f"{tenant}/1" if tenant else "1")
    untold = shop.opened().facts(pointer)
    assert untold.tenant == ""


async def test_a_pointer_fetches_by_the_contract_and_derives_messages():
    reply = {"orders": [PAYLOAD, {"id": "2"}]}
    run, asked = run_of(shop.webhook(POINTER, "order_changed", "pointer"), reply)
    found = await run(CLAIM)
    assert asked == [("shop", "readOrders", {"ref": "R1"}, {"fields": "total"})]
    good, bad = found.changes.webhooks
    assert (good.message_id, good.event_type, good.profile) == ("1", "order_paid", "pointer")
    assert (good.refusals, good.derived_from) == ((), shop.uuid_of("webhook"))
    assert good.contract == "digest-2"
    assert bad.refusals == (Mismatch(pointer="/number", detail="is required"),)


async def test_what_is_found_without_an_id_is_refused():
    webhook = shop.webhook(POINTER, "order_changed", "pointer")
    assert await error_of(webhook, {"orders": [{"number": "A1"}]}) == ("unmappable", False)


async def test_a_foreign_href_is_never_followed():
    foreign = POINTER | {"href": "https://evil.test/v1/orders/R1"}
    run, asked = run_of(shop.webhook(foreign, "order_changed", "pointer"), {})
    found = await run(CLAIM)
    assert (found.failure.error, found.retry_seconds, asked) == ("foreign_href", None, [])


async def test_an_href_is_refused_where_nobody_knows_the_upstreams_base_url():
    run, asked = run_of(
        shop.webhook(POINTER, "order_changed", "pointer"), {"orders": []}, base_urls={}
    )
    found = await run(CLAIM)
    assert (found.failure.error, asked) == ("foreign_href", [])


@pytest.mark.parametrize(
    ("raised", "error", "is_tried_again"),
    [
        (UpstreamUnavailable(), "upstream_unavailable", True),
        (UpstreamRejected(), "upstream_rejected", False),
        (InvalidReply(), "invalid_reply", False),
    ],
)
async def test_a_fetch_that_fails_is_tried_again_by_its_own_word(raised, error, is_tried_again):
    webhook = shop.webhook(POINTER, "order_changed", "pointer")
    assert await error_of(webhook, raised) == (error, is_tried_again)


async def test_an_operator_is_reported_where_a_fetched_reply_breaks_its_contract():
    place = Violation(pointer="/orders", keyword="type", detail="is no array")
    webhook = shop.webhook(POINTER, "order_changed", "pointer")
    found = await outcome(webhook, InvalidReply(violations=[place]))
    assert "/orders: is no array" in found.failure.detail


@pytest.mark.parametrize(
    ("raised", "seconds"),
    [
        (LimitExceeded(), 1),
        (UpstreamRateLimited(), 5),
        (UpstreamRateLimited(retry_after_seconds=60), 60),
        (UpstreamRateLimited(retry_after_seconds=1e9), 3600),
        (NotSent(retry_after_seconds=2), 5),
        (NotSent(retry_after_seconds=30), 30),
    ],
)
async def test_a_limit_does_not_count(raised, seconds):
    webhook = shop.webhook(POINTER, "order_changed", "pointer")
    assert await outcome(webhook, raised) == Released(delay_seconds=seconds)


async def test_a_store_that_fails_is_nobodys_failure():
    with pytest.raises(StoreError):
        await outcome(StoreError("gone"))


@each_of(
    ("href", "is_ours"),
    [
        (f"{shop.BASE}/orders/1", True),
        ("https://API.shop.test:443/v1/orders/1", True),
        ("http://api.shop.test/v1/orders/1", False),
        ("https://api.shop.test:8443/v1/orders/1", False),
        ("https://api.shop.test.evil.test/v1/orders", False),
        ("https://api.shop.test@evil.test/v1/orders", False),
        ("https://user@api.shop.test/v1/orders", False),
        ("https://api.shop.test/v2/orders", False),
        ("https://api.shop.test/v1evil/orders", False),
        ("https://api.shop.test/v1/../admin", False),
        ("https://api.shop.test/v1/%2e%2e/admin", False),
        ("https://api.shop.test/v1\\..\\admin", False),
        ("//api.shop.test/v1/orders", False),
        ("https://api.shop.test:x/v1/orders", False),
        ("https://[::1/v1/orders", False),
        ("https://api.shop.test/v1/or ders", False),
        ("", False),
    ],
)
def test_an_href_has_the_origin_and_base_path_of_its_upstream(href, is_ours):
    assert leads_below(href, shop.BASE) is is_ours


async def test_the_record_of_a_repetition_is_a_record_of_its_own():
    first, second = [await outcome(shop.webhook(PAYLOAD)) for _ in range(2)]
    assert first.changes.audit.id != second.changes.audit.id
    same = [replace(each.changes, audit=None) for each in (first, second)]
    assert same[0] == same[1]
