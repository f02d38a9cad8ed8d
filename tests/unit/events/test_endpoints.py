"""The book of endpoints and their header fields: taken in, shown once, rotated, disabled, sent."""

import base64
import json
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import jsonschema_rs
import pytest

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.errors import InvalidArguments, MalformedRequest, StoreError
from gateway.events.address import AddressRules
from gateway.events.deliver import Deliver, DeliverySender
from gateway.events.endpoints import EndpointRegistry
from gateway.events.secrets import MAX_HEADERS, MAX_VALUE, Keyring
from gateway.store.sql.engine import open_store
from tests.clocks import NOW, ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import answer, is_signed, receiver
from tests.unit.events.shelf import KEYRING, Shelf

SCHEMAS = Path(__file__).parents[3] / "schemas" / "events"
TYPES = {name: {} for name in ("gateway.quote.received.v1", "gateway.trip.created.v1")}


def addresses_of(host):
    known = {"hooks.example.com": ["93.184.215.14"], "mixed.example.com": ["1.1.1.1", "10.0.0.1"]}
    return known.get(host)


async def resolve(host):
    found = addresses_of(host)
    if found is None:
        raise OSError("no such name")
    return [ip_network(each).network_address for each in found]


@pytest.fixture
async def sender():
    allowed = AddressRules([ip_network("127.0.0.0/8")])
    outbound = Outbound(allowed.refusal, resolve=resolve, timeout_seconds=PATIENCE_SECONDS)
    yield outbound
    await outbound.close()


@pytest.fixture
async def endpoints():
    store = await open_store("memory:")
    yield store.endpoints
    await store.close()


@pytest.fixture
def book(endpoints, sender):
    return EndpointRegistry(endpoints, KEYRING, sender, SystemClock(), TYPES)


async def test_an_endpoint_is_kept_and_its_secret_shown_once(book):
    new = await book.add("https://Hooks.Example.com/a", "Ops", ["gateway.quote.*"])
    assert new.secret.startswith("whsec_")
    assert len(base64.b64decode(new.secret.removeprefix("whsec_"))) == 32
    assert new.secret not in repr(new)
    (kept,) = await book.list()
    assert kept == await book.find(new.endpoint.id)
    assert (kept.url, kept.description) == ("https://hooks.example.com/a", "Ops")
    assert (kept.event_types, kept.state) == (("gateway.quote.*",), "active")
    assert new.secret.encode() not in kept.secret
    assert KEYRING.open(kept.secret, kept.id) == new.secret


async def test_no_two_endpoints_have_one_secret_or_id(book):
    made = [await book.add("https://hooks.example.com/") for _ in range(5)]
    assert len({new.secret for new in made}) == len({new.endpoint.id for new in made}) == 5


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example.com/", "the URL must be https://"),
        ("https://hooks.example.com:22/", "the port must be one of 443, 8443"),
        ("https://mixed.example.com/", "the host's address is private"),
        ("https://10.1.2.3/", "the host's address is private"),
        ("https://169.254.169.254/latest", "the host's address is link-local"),
        ("https://[::1]/", "the host's address is loopback"),
        ("https://nowhere.example.com/", "the host's name cannot be resolved"),
        ("https://u:hunter2@hooks.example.com/", "must not hold credentials"),
    ],
)
async def test_where_nothing_may_be_sent_is_refused_when_it_is_saved(book, url, why):
    with pytest.raises(InvalidArguments) as caught:
        await book.add(url)
    (violation,) = caught.value.violations
    assert violation.pointer == "/url"
    assert violation.detail.endswith(why)
    assert await book.list() == []


@pytest.mark.parametrize("wanted", ["gateway.quote.recieved.v1", "gateway.nothing.*", "*.v1x*"])
async def test_a_type_that_is_never_published_is_refused(book, wanted):
    with pytest.raises((InvalidArguments, MalformedRequest)):
        await book.add("https://hooks.example.com/", event_types=[wanted])


@pytest.mark.parametrize("description", ["x" * 201, "two\nlines", "\x1b[31m", "\x00"])
async def test_a_description_is_one_short_line(book, description):
    with pytest.raises(InvalidArguments):
        await book.add("https://hooks.example.com/", description)


async def test_after_a_rotation_both_secrets_sign_for_as_long_as_was_said(endpoints, sender):
    clock = ManualClock(SystemClock().now())
    book = EndpointRegistry(endpoints, KEYRING, sender, clock, TYPES)
    async with receiver() as (port, got):
        old = await book.add(f"http://127.0.0.1:{port}/")
        new = await book.rotate(old.endpoint.id, grace_seconds=60)
        newer = await book.rotate(old.endpoint.id)
        await book.test(old.endpoint.id)
        clock.advance(timedelta(hours=24))
        await book.test(old.endpoint.id)
        newest = await book.rotate(old.endpoint.id, grace_seconds=0)
        await book.test(old.endpoint.id)
    now = clock.now().timestamp()
    secrets = [each.secret for each in (old, new, newer, newest)]
    first, second, third = got
    assert [is_signed(first, each, now - 86400) for each in secrets] == [False, True, True, False]
    assert [is_signed(second, each, now) for each in secrets] == [False, False, True, False]
    assert [is_signed(third, each, now) for each in secrets] == [False, False, False, True]
    assert newest.endpoint.previous_secret is None


@pytest.mark.parametrize("seconds", [-1, 7 * 86400 + 1, float("nan"), float("inf")])
async def test_a_previous_secret_lives_seven_days_at_most(book, seconds):
    new = await book.add("https://hooks.example.com/")
    with pytest.raises(InvalidArguments):
        await book.rotate(new.endpoint.id, seconds)
    assert await book.find(new.endpoint.id) == (await book.list())[0]


async def test_a_test_sends_a_signed_event_that_fits_its_contract(book):
    async with receiver(answer(200, body=b"internal page")) as (port, got):
        new = await book.add(f"http://127.0.0.1:{port}/")
        assert await book.test(new.endpoint.id) == "2xx"
        await book.test(new.endpoint.id)
    first, second = got
    assert is_signed(first, new.secret)
    assert first.headers["webhook-id"] != second.headers["webhook-id"]
    schema = json.loads((SCHEMAS / "endpoint.tested.v1.json").read_text("utf-8"))
    jsonschema_rs.validate(schema, json.loads(first.body), validate_formats=True)


@pytest.mark.parametrize("status", [200, 302, 401, 403, 404, 500, 503])
async def test_a_test_reports_the_class_of_the_status_and_no_more(book, status):
    async with receiver(answer(status, "Location: /secret\r\n", b"internal page")) as (port, _):
        new = await book.add(f"http://127.0.0.1:{port}/")
        assert await book.test(new.endpoint.id) == f"{status // 100}xx"
    assert await book.find(new.endpoint.id) == (await book.list())[0]


async def test_a_test_of_a_dead_endpoint_says_so_and_leaves_no_trace(book):
    async with receiver() as (port, _):
        new = await book.add(f"http://127.0.0.1:{port}/")
        before = await book.find(new.endpoint.id)
    assert await book.test(new.endpoint.id) == "unreachable"
    assert await book.find(new.endpoint.id) == before


async def test_an_endpoint_is_disabled_enabled_and_removed(book, endpoints):
    endpoint_id = (await book.add("https://hooks.example.com/")).endpoint.id
    assert await book.disable(endpoint_id)
    disabled = await book.find(endpoint_id)
    assert (disabled.state, disabled.disabled_because) == ("disabled", "operator")
    await endpoints.change(endpoint_id, {"failing_since": NOW})
    assert await book.enable(endpoint_id)
    enabled = await book.find(endpoint_id)
    assert (enabled.state, enabled.disabled_because, enabled.failing_since) == (
        "active",
        None,
        None,
    )
    assert await book.remove(endpoint_id)
    assert await book.list() == []


async def test_of_an_endpoint_that_is_not_there_nothing_comes(book):
    assert not await book.disable("x")
    assert not await book.enable("x")
    assert not await book.remove("x")
    assert await book.find("x") is None
    assert await book.rotate("x") is None
    assert await book.test("x") is None


async def test_sealing_again_lets_the_old_key_go(endpoints, sender):
    old, new = b"o" * 32, b"n" * 32
    before = EndpointRegistry(endpoints, Keyring([old]), sender, SystemClock(), TYPES)
    first = await before.add("https://hooks.example.com/")
    rotated = await before.rotate(first.endpoint.id)
    after = EndpointRegistry(endpoints, Keyring([new, old]), sender, SystemClock(), TYPES)
    assert await after.reseal() == 1
    assert await after.reseal() == 0
    (kept,) = await after.list()
    alone = Keyring([new])
    assert alone.open(kept.secret, kept.id) == rotated.secret
    assert alone.open(kept.previous_secret, kept.id) == first.secret
    with pytest.raises(StoreError):
        Keyring([old]).open(kept.secret, kept.id)


async def test_the_event_of_an_endpoint_that_is_disabled_fits_its_contract(sender):
    shelf = Shelf()
    deliver = Deliver(shelf, DeliverySender(sender, KEYRING, SystemClock()))
    since = NOW - timedelta(days=6)
    async with receiver(answer(410)) as (port, _):
        gone, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        failing, _ = shelf.hold("http://127.0.0.1:1/", failing_since=since)
        outcomes = [await deliver(shelf.claim(each)) for each in (gone, failing)]
    schema = json.loads((SCHEMAS / "endpoint.disabled.v1.json").read_text("utf-8"))
    for event in (event for each in outcomes for event in each.changes.events):
        data = schema["properties"]["data"]
        jsonschema_rs.validate(data, dict(event.data), validate_formats=True)
    assert [len(each.changes.events) for each in outcomes] == [1, 1]


TOKEN = "edge-4f1c9a7b2d"


async def test_an_endpoint_gets_its_own_headers_beside_those_of_the_gateway(book):
    async with receiver() as (port, got):
        own = {"Authorization": f"Bearer {TOKEN}", "X-Edge": "a b"}
        new = await book.add(f"http://127.0.0.1:{port}/", headers=own)
        assert await book.test(new.endpoint.id) == "2xx"
        await book.change(new.endpoint.id, headers={"x-edge": "other"})
        await book.test(new.endpoint.id)
        await book.change(new.endpoint.id, headers={})
        await book.test(new.endpoint.id)
    first, second, third = got
    assert (first.headers["authorization"], first.headers["x-edge"]) == (f"Bearer {TOKEN}", "a b")
    assert is_signed(first, new.secret)
    assert first.headers["content-type"] == "application/cloudevents+json"
    assert "authorization" not in second.headers
    assert second.headers["x-edge"] == "other"
    assert "x-edge" not in third.headers


async def test_values_are_stored_encrypted_and_each_under_its_name(book):
    new = await book.add(
        "http://127.0.0.1:9/", headers={"Authorization": f"Bearer {TOKEN}", "x-edge": TOKEN}
    )
    kept = await book.find(new.endpoint.id)
    assert kept == new.endpoint
    assert list(kept.headers) == ["authorization", "x-edge"]
    assert all(TOKEN.encode() not in sealed for sealed in kept.headers.values())
    assert TOKEN not in repr(kept)


async def test_sealing_again_lets_the_old_key_of_headers_go(endpoints, sender):
    old, new = b"o" * 32, b"n" * 32
    clock = SystemClock()
    async with receiver() as (port, got):
        before = EndpointRegistry(endpoints, Keyring([old]), sender, clock, TYPES)
        added = await before.add(f"http://127.0.0.1:{port}/", headers={"x-edge": TOKEN})
        both = EndpointRegistry(endpoints, Keyring([new, old]), sender, clock, TYPES)
        assert [await both.reseal(), await both.reseal()] == [1, 0]
        after = EndpointRegistry(endpoints, Keyring([new]), sender, clock, TYPES)
        await after.test(added.endpoint.id)
    assert got[0].headers["x-edge"] == TOKEN


async def test_a_value_that_was_moved_to_another_name_is_not_sent(book, endpoints):
    async with receiver() as (port, got):
        new = await book.add(f"http://127.0.0.1:{port}/", headers={"authorization": TOKEN})
        moved = {"x-shown": new.endpoint.headers["authorization"]}
        await endpoints.change(new.endpoint.id, {"headers": moved})
        assert await book.test(new.endpoint.id) == "unsigned"
    assert got == []


async def test_what_an_endpoint_repeats_of_its_headers_is_masked(sender):
    credentials = base64.b64encode(f"user:{TOKEN}".encode()).decode()
    values = {"authorization": f"Basic {credentials}", "x-key": TOKEN[::-1]}
    body = f"no {credentials}, user:{TOKEN}, {TOKEN}, {TOKEN[::-1]}".encode()
    shelf = Shelf()
    async with receiver(answer(403, body=body)) as (port, got):
        endpoint, _ = shelf.hold(f"http://127.0.0.1:{port}/")
        sealed = {
            name: KEYRING.seal(value, f"{endpoint.id}/{name}") for name, value in values.items()
        }
        await shelf.change(endpoint.id, {"headers": sealed})
        deliver = Deliver(shelf, DeliverySender(sender, KEYRING, SystemClock()))
        outcome = await deliver(shelf.claim(await shelf.find(endpoint.id)))
    assert got[0].headers["x-key"] == TOKEN[::-1]
    assert outcome.failure.detail == "HTTP 403: no ***, ***, ***, ***"


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "content-length", "Content-Type", "content-encoding", "Transfer-Encoding", "TE"),
        *("Connection", "keep-alive", "Upgrade", "Trailer", "proxy-authorization", "Expect"),
        *("Cookie", "set-cookie", "accept-encoding", "user-agent", "traceparent", "tracestate"),
        *("webhook-id", "Webhook-Signature", "webhook-timestamp", "webhook-other"),
        *("", "a b", "a:b", "a\r\nb", "ž", "a" * 65, "a\x00"),
    ],
)
async def test_a_name_that_is_the_gateways_or_none_is_refused(book, name):
    with pytest.raises(InvalidArguments) as caught:
        await book.add("http://127.0.0.1:9/", headers={name: TOKEN})
    (violation,) = caught.value.violations
    assert violation.pointer.startswith("/headers")
    assert violation.pointer.isprintable()
    assert await book.list() == []


@pytest.mark.parametrize(
    "value", ["", " a", "a ", "a\r\nb: c", "a\tb", "ž", "a\x00", TOKEN + "x" * MAX_VALUE]
)
async def test_a_value_is_one_short_line_of_ascii_and_is_not_repeated(book, value):
    new = await book.add("http://127.0.0.1:9/")
    with pytest.raises(InvalidArguments) as caught:
        await book.change(new.endpoint.id, headers={"x-edge": value})
    (violation,) = caught.value.violations
    assert violation.pointer == "/headers/x-edge"
    assert TOKEN not in violation.detail
    assert await book.find(new.endpoint.id) == new.endpoint


@pytest.mark.parametrize(
    ("headers", "place"),
    [
        ({f"x-{n}": "a" for n in range(MAX_HEADERS + 1)}, "/headers"),
        ({"X-Edge": "a", "x-edge": "b"}, "/headers/x-edge"),
    ],
)
async def test_headers_are_few_and_named_once(book, headers, place):
    with pytest.raises(InvalidArguments) as caught:
        await book.add("http://127.0.0.1:9/", headers=headers)
    assert [each.pointer for each in caught.value.violations] == [place]


async def test_a_change_of_nothing_changes_nothing(book):
    new = await book.add("http://127.0.0.1:9/", headers={"x-edge": TOKEN})
    assert await book.change(new.endpoint.id)
    assert await book.find(new.endpoint.id) == new.endpoint
    assert not await book.change("none", headers={})
