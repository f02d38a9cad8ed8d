"""How many messages a source takes, and how many of one address, before it reads them."""

from ipaddress import ip_address

import pytest
from msgspec.structs import replace

from gateway.bounds.rates import Rate
from gateway.contract.webhook import SourceRate
from gateway.webhooks.source import NO_RATES, SourceBuckets, SourceRates
from tests.clocks import ManualClock
from tests.webhook_sources import ACME

ONE = ip_address("192.0.2.1")
OTHER = ip_address("192.0.2.77")


def admitted(buckets: SourceBuckets, peer, tries: int) -> int:
    return sum(not buckets.peers.take(peer) for _ in range(tries))


def authentic(buckets: SourceBuckets, clock: ManualClock, tries: int) -> int:
    return sum(not buckets.budget.take(clock.monotonic()) for _ in range(tries))


def test_one_address_has_half_of_what_its_source_has():
    clock = ManualClock()
    buckets = SourceBuckets(NO_RATES, replace(ACME, rate=None), clock)

    assert admitted(buckets, ONE, 6_000) == 5_000
    assert admitted(buckets, OTHER, 6_000) == 5_000
    assert authentic(buckets, clock, 11_000) == 10_000
    clock.advance(1)
    assert admitted(buckets, ONE, 2_000) == 500
    assert authentic(buckets, clock, 2_000) == 1_000


def test_the_rate_of_a_contract_is_that_of_its_addresses_too():
    contract = replace(ACME, rate=SourceRate(per_second=1, burst=7_000))
    clock = ManualClock()
    buckets = SourceBuckets(NO_RATES, contract, clock)

    assert (admitted(buckets, ONE, 8_000), authentic(buckets, clock, 8_000)) == (7_000, 7_000)


@pytest.mark.parametrize("rate", [None, SourceRate(per_second=1, burst=1)])
def test_the_operator_decides(rate):
    rates = SourceRates(of_source=Rate(1, 20), of_address=Rate(1, 30))
    clock = ManualClock()
    buckets = SourceBuckets(rates, replace(ACME, rate=rate), clock)

    assert (admitted(buckets, ONE, 40), authentic(buckets, clock, 40)) == (30, 20)
