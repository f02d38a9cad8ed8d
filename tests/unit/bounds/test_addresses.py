"""Who sent a request: the socket, unless it is one of our proxies."""

from ipaddress import ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from gateway.bounds.addresses import FORWARDED, Networks, group_of, peer_of
from tests.unit.tables import each_of

PROXIES = Networks([ip_network("10.0.0.0/8"), ip_network("fd00::/8")])
NOBODY = Networks(())


@each_of(
    ("host", "forwarded", "peer"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", [b"192.0.2.1"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [b"192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", [b"192.0.2.66, 192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", [b"192.0.2.66", b"192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", [b"192.0.2.66, 192.0.2.1 , 10.9.9.9"], "192.0.2.1"),
        ("10.0.0.1", [b"10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ("10.0.0.1", [b"192.0.2.66, garbage"], None),
        ("10.0.0.1", [b""], None),
        ("10.0.0.1", [b"\xff\xfe"], None),
        ("10.0.0.1", [b"," * 100_000], None),
        ("::ffff:203.0.113.9", [], "203.0.113.9"),
        ("::ffff:10.0.0.1", [b"::ffff:192.0.2.1"], "192.0.2.1"),
        ("fd00::1", [b"2001:db8::7"], "2001:db8::7"),
        ("fe80::1%eth0", [], "fe80::1"),
        (None, [b"192.0.2.1"], None),
        ("", [], None),
        ("/run/socket", [], None),
    ],
)
def test_the_peer_is_the_nearest_party_that_is_no_proxy_of_ours(host, forwarded, peer) -> None:
    found = peer_of(host, forwarded, PROXIES)
    assert found == (peer and ip_address(peer))


@given(st.lists(st.binary(max_size=50)))
def test_who_is_no_proxy_cannot_say_who_they_are(forwarded) -> None:
    assert peer_of("203.0.113.9", forwarded, PROXIES) == ip_address("203.0.113.9")
    assert peer_of("10.0.0.1", forwarded, NOBODY) == ip_address("10.0.0.1")


@given(st.lists(st.binary(max_size=50)))
def test_whatever_a_proxy_says_nothing_is_raised(forwarded) -> None:
    peer_of("10.0.0.1", forwarded, PROXIES)


@given(st.ip_addresses(), st.integers(0, 32))
def test_an_address_is_in_its_network_however_it_is_written(address, prefix) -> None:
    network = ip_network((address, prefix), strict=False)
    assert address in Networks([network])
    if address.version == 4:
        mapped = ip_address(f"::ffff:{address}")
        assert peer_of(str(mapped), [], NOBODY) in Networks([network])
        assert address in Networks([ip_network((mapped, 96 + prefix), strict=False)])


def test_nobody_is_in_no_network() -> None:
    assert None not in Networks([ip_network("0.0.0.0/0"), ip_network("::/0")])
    assert ip_address("192.0.2.1") not in NOBODY


@each_of(
    ("forwarded", "peer"),
    [
        ([b"for=192.0.2.1"], "192.0.2.1"),
        ([b"For=192.0.2.1;proto=https;by=10.0.0.1"], "192.0.2.1"),
        ([b'for="192.0.2.1:4711"'], "192.0.2.1"),
        ([b'for="[2001:db8::7]:4711"'], "2001:db8::7"),
        ([b"for=192.0.2.66, for=192.0.2.1, for=10.9.9.9"], "192.0.2.1"),
        ([b'for="192.0.2.66', b"for=192.0.2.1"], "192.0.2.1"),
        ([b"for=unknown"], None),
        ([b"for=_hidden"], None),
        ([b"proto=https"], None),
        ([b"192.0.2.1"], None),
    ],
)
def test_the_standard_header_is_read_from_its_right_end_too(forwarded, peer) -> None:
    found = peer_of("10.0.0.1", forwarded, PROXIES, FORWARDED)
    assert found == (peer and ip_address(peer))


def test_a_hop_may_carry_a_port() -> None:
    assert peer_of("10.0.0.1", [b"192.0.2.1:4711"], PROXIES) == ip_address("192.0.2.1")


def test_one_host_is_an_ipv4_address_or_an_ipv6_network_of_64_bits() -> None:
    assert group_of(ip_address("2001:db8::1")) == group_of(ip_address("2001:db8::ffff:1"))
    assert group_of(ip_address("2001:db8::1")) != group_of(ip_address("2001:db8:0:1::1"))
    assert group_of(ip_address("192.0.2.1")) != group_of(ip_address("192.0.2.2"))
