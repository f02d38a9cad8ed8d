"""Who sent a request, and places for the connections of each host."""

from ipaddress import ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from gateway.bounds.addresses import FORWARDED, Networks, group_of, peer_of
from gateway.bounds.shares import ConnectionTable
from tests.unit.tables import each_of


class Line:
    """A connection that waits for its client, or is being served."""

    def __init__(self, *, is_waiting: bool = True) -> None:
        self.is_waiting = is_waiting
        self.has_yielded = False

    def evict(self) -> None:
        self.has_yielded = True


def test_one_host_cannot_take_the_places_of_others() -> None:
    table = ConnectionTable(10, 3)
    lines = [Line() for _ in range(5)]
    assert [table.admit(line, "a") for line in lines] == [True] * 5
    assert [line.has_yielded for line in lines] == [True, True, False, False, False]
    assert all(table.admit(Line(), "b") for _ in range(3))
    assert len(table) == 6


def test_when_all_places_are_taken_the_oldest_idle_one_yields_whichever_client_has_it() -> None:
    table = ConnectionTable(3, 3)
    old, served, young = Line(), Line(is_waiting=False), Line()
    for line, host in ((served, "a"), (old, "b"), (young, "c")):
        table.admit(line, host)
    assert table.admit(Line(), "d")
    assert (served.has_yielded, old.has_yielded, young.has_yielded) == (False, True, False)


def test_what_happened_last_counts() -> None:
    table = ConnectionTable(2, 2)
    first, second = Line(), Line()
    table.admit(first, "a")
    table.admit(second, "a")
    table.touch(first)
    table.admit(Line(), "a")
    assert (first.has_yielded, second.has_yielded) == (False, True)


def test_where_all_are_being_served_there_is_no_place() -> None:
    table = ConnectionTable(2, 2)
    lines = [Line(is_waiting=False), Line(is_waiting=False)]
    for line in lines:
        table.admit(line, "a")
    assert not table.admit(Line(), "a")
    assert not table.admit(Line(), "b")
    table.remove(lines[0])
    table.remove(lines[0])
    assert table.admit(Line(), "b")


def test_a_proxy_is_no_host() -> None:
    table = ConnectionTable(100, 1)
    assert all(table.admit(Line(is_waiting=False), None) for _ in range(100))


def test_what_is_gone_is_forgotten() -> None:
    table = ConnectionTable(10, 10)
    for number in range(1000):
        line = Line()
        table.admit(line, number)
        table.remove(line)
        table.touch(line)
    assert len(table) == 0
    assert table._of_host == {}


def test_the_host_with_the_most_places_yields_first() -> None:
    table = ConnectionTable(4, 3)
    idle, crowd = Line(), [Line() for _ in range(3)]
    for line in (idle, *crowd):
        table.admit(line, None)
    table.use(idle, "honest")
    for line in crowd:
        table.use(line, "crowd")
    assert table.admit(Line(), None)
    assert [line.has_yielded for line in (idle, *crowd)] == [False, True, False, False]


def test_a_proxy_uses_no_more_connections_for_a_host_than_one_may_have() -> None:
    table = ConnectionTable(100, 2)
    lines = [Line() for _ in range(4)]
    for line in lines:
        table.admit(line, None)
    assert [table.use(line, "much") for line in lines] == [True, True, False, False]
    assert table.use(lines[2], "little")
    table.release("much")
    assert table.use(lines[3], "much")
    assert not table.use(lines[0], "much")


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
