"""Where an endpoint may be, by its URL and by the addresses of its host."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from gateway.backends.http.outbound import PostTarget, target_of
from gateway.errors import InvalidArguments
from gateway.events.address import AddressRules, read_url
from tests.unit.tables import each_of

HTTPS = PostTarget(scheme="https", host="hooks.example.com", port=443)
PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.15",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "3ffe:ffff::1",
)
REFUSED = (
    "0.0.0.0",  # noqa: S104 - nobody listens there: it is refused
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.9",
    "192.0.0.192",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "233.252.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "200::1",
    "400::1",
    "1000::1",
    "2001::1",
    "2001:0:7f00:1::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3fff::1",
    "3fff:fff:ffff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "feff::1",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
)


def refusal(*addresses, target=HTTPS, allow=()):
    return AddressRules(map(ip_network, allow)).refusal(target, [*map(ip_address, addresses)])


@each_of("address", PUBLIC)
def test_a_public_address_may_be_reached(address):
    assert refusal(address) is None


@each_of("address", REFUSED)
def test_any_other_address_may_not(address):
    assert refusal(address)


@each_of("address", REFUSED)
def test_one_refused_address_among_public_ones_is_enough(address):
    assert refusal("8.8.8.8", address, "1.1.1.1")


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_passes_that_python_calls_local(address):
    """A second opinion: what the standard library calls not global is always refused."""
    if AddressRules().refusal(HTTPS, [address]) is None:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_private
        assert not address.is_reserved


@given(st.ip_addresses(v=4))
def test_no_ipv6_address_stands_for_one_of_ipv4(inner):
    """Mapped, compatible, translated (NAT64), 6to4, Teredo, ISATAP-like: all are refused."""
    number = int(inner)
    forms = (
        number,
        (0xFFFF << 32) | number,
        (0xFFFF << 48) | number,
        (0x0064FF9B << 96) | number,
        (0x0064FF9B0001 << 80) | number,
        (0x2002 << 112) | (number << 80) | 1,
        (0x20010000 << 96) | (~number & 0xFFFFFFFF),
    )
    assert all(AddressRules().refusal(HTTPS, [IPv6Address(form)]) for form in forms)


def test_a_refusal_does_not_report_the_address():
    """Else anyone who adds endpoints could look up the names of an inner network."""
    said = refusal("10.20.30.40")
    assert said == "the host's address is private"


def test_a_host_without_address_is_refused():
    assert refusal() == "the host has no address"


def test_an_allowed_network_may_be_reached_without_tls_and_on_any_port():
    inner = PostTarget(scheme="http", host="localhost", port=8700)
    assert refusal("127.0.0.1", target=inner, allow=["127.0.0.0/8"]) is None
    assert refusal("127.0.0.1", "::1", target=inner, allow=["127.0.0.0/8"])
    assert refusal("127.0.0.1", "8.8.8.8", target=inner, allow=["127.0.0.0/8"])
    assert refusal("::ffff:127.0.0.1", target=inner, allow=["127.0.0.0/8"])
    assert refusal("128.0.0.1", target=inner, allow=["127.0.0.0/8"])


@each_of(
    ("scheme", "port", "fits"),
    [
        ("https", 443, True),
        ("https", 8443, True),
        ("https", 22, False),
        ("https", 6379, False),
        ("https", 8080, False),
        ("http", 80, False),
        ("http", 443, False),
    ],
)
def test_public_hosts_are_reached_by_https_on_its_ports(scheme, port, fits):
    found = refusal("8.8.8.8", target=PostTarget(scheme=scheme, host="a.example", port=port))
    assert (found is None) == fits


@each_of(
    ("given_url", "kept"),
    [
        ("https://hooks.example.com/a?b=c", "https://hooks.example.com/a?b=c"),
        ("HTTPS://Hooks.Example.COM:443", "https://hooks.example.com"),
        ("https://hooks.example.com:8443/a", "https://hooks.example.com:8443/a"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://hooks.example.com/a/../b/./c", "https://hooks.example.com/b/c"),
        ("https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"),
        ("http://localhost:8700/hooks", "http://localhost:8700/hooks"),
    ],
)
def test_a_url_is_kept_in_one_spelling(given_url, kept):
    assert read_url(given_url) == kept
    assert read_url(kept) == kept


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://127.0.0.1/", "127.0.0.1"),
        ("https://①②⑦.0.0.1/", "127.0.0.1"),
        ("https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "127.0.0.1"),
        ("https://127。0。0。1/", "127.0.0.1"),
        ("https://[::ffff:127.0.0.1]/", "::ffff:7f00:1"),
        ("https://[::]/", "::"),
    ],
)
def test_what_is_an_address_in_disguise_is_judged_as_one(url, host):
    target = target_of(URL(read_url(url)))
    assert target.host == host
    assert AddressRules().refusal(target, [target.address])


@each_of(
    "url",
    [
        "",
        "hooks.example.com",
        "//hooks.example.com/",
        "https:hooks.example.com",
        "https:/hooks.example.com",
        "https:///hooks.example.com",
        "https://",
        "https://?x=1",
        "ftp://hooks.example.com/",
        "file:///etc/passwd",
        "gopher://hooks.example.com/",
        "javascript:alert(1)",
        "https://user@hooks.example.com/",
        "https://user:secret@hooks.example.com/",
        "https://@hooks.example.com/",
        "https://hooks.example.com@127.0.0.1/",
        "https://hooks.example.com/#part",
        "https://hooks.example.com/#",
        "https://hooks.example.com\\@127.0.0.1/",
        "https://hooks.example.com\t.evil.example/",
        " https://hooks.example.com/",
        "https://hooks.example.com/ ",
        "https://hooks.example.com/\r\nHost: x",
        "https://hooks.example.com/\x00",
        "https://hooks\u200b.example.com/",
        "https://hooks\u202eexample.com/",
        "https://hooks.example.com:0/",
        "https://hooks.example.com:65536/",
        "https://hooks.example.com:-1/",
        "https://hooks.example.com:4x3/",
        "https://hooks.example.com.:443/",
        "https://hooks..example.com/",
        "https://.example.com/",
        "https://-hooks.example.com/",
        "https://hooks%2eexample.com/",
        "https://hooks.example.com%00.evil.example/",
        f"https://{'a' * 64}.example/",
        f"https://{'a.' * 127}example/",
        "https://2130706433/",
        "https://017700000001/",
        "https://0x7f000001/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://127.0.0.01/",
        "https://127.0.0.1./",
        "https://1.2.3.4.5/",
        "https://example.0x/",
        "https://[::1/",
        "https://::1/",
        "https://[hooks.example.com]/",
        "https://[v1.hooks]/",
        "https://[fe80::1%25eth0]/",
        "https://[127.0.0.1]/",
        f"https://hooks.example.com/{'a' * 2048}",
    ],
)
def test_a_url_that_could_be_read_in_two_ways_is_refused(url):
    with pytest.raises(InvalidArguments) as caught:
        read_url(url)
    (violation,) = caught.value.violations
    assert violation.pointer == "/url"
    assert "secret" not in violation.detail


@given(st.text(max_size=60))
def test_a_url_is_taken_or_refused_and_never_anything_else(rest):
    try:
        kept = read_url(f"https://{rest}")
    except InvalidArguments:
        return
    target = target_of(URL(kept, encoded=True))
    assert target.scheme == "https"
    assert target.port
    assert target.host
    assert read_url(kept) == kept
    assert isinstance(target.address, IPv4Address | IPv6Address | None)
