"""Header fields of an endpoint's own: which it may have, what is sent, and what is never shown."""

import base64

import pytest

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.errors import InvalidArguments
from gateway.events.deliver import Deliver, DeliverySender
from gateway.events.endpoints import EndpointRegistry
from gateway.events.secrets import MAX_HEADERS, MAX_VALUE, Keyring
from gateway.store.sql.engine import open_store
from tests.delivering import HERE
from tests.eventually import PATIENCE_SECONDS
from tests.receivers import answer, is_signed, receiver
from tests.unit.events.shelf import KEYRING, Shelf

PUBLISHED = {"gateway.quote.received.v1": {}}
TOKEN = "edge-4f1c9a7b2d"


@pytest.fixture
async def sender():
    outbound = Outbound(HERE.refusal, timeout_seconds=PATIENCE_SECONDS)
    yield outbound
    await outbound.close()


@pytest.fixture
async def endpoints():
    store = await open_store("memory:")
    yield store.endpoints
    await store.close()


@pytest.fixture
def book(endpoints, sender):
    return EndpointRegistry(endpoints, KEYRING, sender, SystemClock(), PUBLISHED)


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
        before = EndpointRegistry(endpoints, Keyring([old]), sender, clock, PUBLISHED)
        added = await before.add(f"http://127.0.0.1:{port}/", headers={"x-edge": TOKEN})
        both = EndpointRegistry(endpoints, Keyring([new, old]), sender, clock, PUBLISHED)
        assert [await both.reseal(), await both.reseal()] == [1, 0]
        after = EndpointRegistry(endpoints, Keyring([new]), sender, clock, PUBLISHED)
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
