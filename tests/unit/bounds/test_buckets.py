"""Token buckets: exact, and in bounded memory."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.bounds.rates import Bucket, PeerBuckets
from gateway.contract.webhook import SourceRate
from tests.clocks import ManualClock

RATE = SourceRate(per_second=10, burst=3)


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = Bucket(RATE, 0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take(0.0) == pytest.approx(0.1)
    assert bucket.take(0.05) == pytest.approx(0.05)
    assert bucket.take(0.1) == 0.0
    assert bucket.take(0.1) > 0.0


def test_looking_takes_nothing() -> None:
    bucket = Bucket(RATE, 0.0)
    assert [bucket.wait_seconds(0.0) for _ in range(9)] == [0.0] * 9
    assert [bool(bucket.take(0.0)) for _ in range(4)] == [False, False, False, True]


@given(st.lists(st.floats(0, 2), max_size=200))
def test_no_more_than_burst_and_rate_are_given_in_any_time(pauses) -> None:
    bucket, now, given_away = Bucket(RATE, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        given_away += not bucket.take(now)
    assert given_away <= RATE.burst + RATE.per_second * now + 1e-6


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    bucket = Bucket(RATE, 100.0)
    for _ in range(3):
        bucket.take(100.0)
    assert bucket.take(50.0) > 0.0


def test_each_peer_has_its_own_bucket() -> None:
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), ManualClock())
    for text in ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"):
        assert peers.take(ip_address(text)) == 0.0
        assert peers.take(ip_address(text)) > 0.0
    assert peers.take(None) == 0.0
    assert peers.take(None) > 0.0


def test_who_has_one_address_of_an_ipv6_network_has_them_all() -> None:
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), ManualClock())
    assert peers.take(ip_address("2001:db8::1")) == 0.0
    assert peers.take(ip_address("2001:db8::ffff:1")) > 0.0


def test_a_million_peers_take_the_memory_of_a_few() -> None:
    clock = ManualClock()
    peers = PeerBuckets(SourceRate(per_second=1, burst=1), clock, max_peers=100)
    for number in range(100_000):
        peers.take(ip_address(number + 1))
    assert len(peers) == 100
    assert peers.take(ip_address(100_000)) > 0.0, "the latest is still known"
