"""Event endpoints that lead into the internal network."""

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from gateway.backends.http.outbound import NoAnswer, Outbound
from gateway.bounds.addresses import Address
from gateway.contract.schemas import algebra
from gateway.errors import InvalidArguments
from gateway.events.address import AddressRules, read_url
from gateway.events.endpoints import check_filter
from gateway.events.secrets import read_headers
from tests.receivers import receiver

INNER = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",  # noqa: S104 - an address that is attacked, not one to listen on
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "168.63.129.16",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fd00:ec2::254",
    "fe80::1",
]
DISGUISED = [
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://127.0.0.1.nip.io@10.0.0.1/",
    "https://user:secret@example.com/",
    "https://example.com\\@127.0.0.1/",
    "https://[::1/",
    "https://exa mple.com/",
    "https://example.com/#fragment",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_SET",
    "//127.0.0.1/",
    "https:///",
]
HEADERS = [
    "a\r\nx-other: b",
    "a: b\r\n\r\nGET / HTTP/1.1",
    "Content-Length",
    "Transfer-Encoding",
    "Host",
    "Connection",
    "Webhook-Signature",
    "webhook-id",
    "Content-Type",
    " authorization",
    "authorization ",
    "authorization:",
]


@pytest.mark.parametrize("address", INNER)
@pytest.mark.attack(
    "an event endpoint by an address of the internal network, or by a name with such an address "
    "beside a public one",
    required="nothing is sent, and the answer names neither the address nor what listens there",
)
async def test_endpoints_inside(address: str) -> None:
    async def resolve(_: str) -> Sequence[Address]:
        return [ip_address("8.8.8.8"), ip_address(address)]

    outbound = Outbound(AddressRules().refusal, resolve=resolve)
    literal = f"[{address}]" if ":" in address else address
    try:
        for url in (f"https://{literal}/", "https://innocent.example/"):
            outcome = await outbound.post(url, {}, b"{}")
            assert isinstance(outcome, NoAnswer)
            assert outcome.reason == "address_refused"
            assert address not in outcome.detail
    finally:
        await outbound.close()


@pytest.mark.parametrize("url", DISGUISED)
@pytest.mark.attack(
    "an event endpoint whose URL two parsers read differently, or that is not http at all",
    required="refused when it is registered, with a pointer",
)
def test_disguised_urls(url: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        read_url(url)
    assert refused.value.violations[0].pointer == "/url"


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.attack(
    "a header of an event endpoint that would end the head, frame the body anew, or pass for a "
    "signature of the gateway",
    required="refused when it is set, with a pointer, and its value is repeated nowhere",
)
def test_headers_of_endpoints(name: str) -> None:
    secret = "hunter2-hunter2"
    for headers in (
        {name: secret},
        {"x-edge": f"{secret}\r\n{name}: a"},
        {"x-edge": f"{secret}\0"},
    ):
        with pytest.raises(InvalidArguments) as refused:
            read_headers(headers)
        [violation] = refused.value.violations
        assert violation.pointer.startswith("/headers/")
        assert secret not in violation.pointer + violation.detail
        assert (violation.pointer + violation.detail).isprintable()


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "if", "$ref", "pattern", "$defs"])
@pytest.mark.attack(
    "a filter of an event endpoint that takes minutes to compare with the contracts, or that reads "
    "a file or another host",
    required="refused by its form, before anything is compared or read",
)
def test_filters_of_endpoints(keyword: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*_: object) -> bool:
        raise AssertionError("it was compared")

    monkeypatch.setattr(algebra, "is_empty", compared)
    monkeypatch.setattr(algebra, "covers", compared)
    pairs = [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(20)]
    values = {"allOf": pairs, "anyOf": pairs, "oneOf": pairs, "$defs": {"a": {}}, "if": pairs[0]}
    others = {"$ref": "file:///etc/passwd", "pattern": "^(a|b|ab){0,200}$"}
    inner = {keyword: (values | others)[keyword]}
    for content in (inner, {"not": {"properties": {"a": {"contains": inner}}}}):
        with pytest.raises(InvalidArguments) as refused:
            check_filter(content, [], {"a.v1": {"type": "object"}})
        assert refused.value.violations[0].pointer.endswith(f"/{keyword}")


@pytest.mark.attack(
    "DNS rebinding: a name that leads to a permitted address when it is checked, and to the "
    "internal network when the connection is made",
    required="the name is looked up once for each message, and the address that was checked is "
    "the one that is connected to; what listens inside gets nothing",
)
async def test_names_that_change_their_address() -> None:
    lookups = 0

    async def resolve(_: str) -> Sequence[Address]:
        nonlocal lookups
        lookups += 1
        return [ip_address("127.0.0.2" if lookups % 2 else "127.0.0.1")]

    judged: list[Sequence[Address]] = []

    def check(target: object, addresses: Sequence[Address]) -> str | None:
        """Only 127.0.0.2 may be reached; what is "inside" is 127.0.0.1."""
        judged.append(addresses)
        return None if addresses == [ip_address("127.0.0.2")] else "inside"

    async with receiver() as (port, got):
        outbound = Outbound(check, resolve=resolve)
        first = await outbound.post(f"http://rebinding.example:{port}/", {}, b"{}")
        second = await outbound.post(f"http://rebinding.example:{port}/", {}, b"{}")
        await outbound.close()
    assert isinstance(first, NoAnswer)
    assert first.reason == "unreachable"
    assert isinstance(second, NoAnswer)
    assert second.reason == "address_refused"
    assert (lookups, len(judged)) == (2, 2)
    assert got == []
