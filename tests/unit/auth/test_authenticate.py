"""From a presented key to a principal, or to nothing."""

import asyncio
import logging
from datetime import UTC, datetime

import pytest

from gateway.auth.authenticate import MAX_REMEMBERED, TTL_SECONDS, Authenticator
from gateway.auth.keys import Keys, digest_of
from gateway.auth.principal import Credentials, KeyNotChecked, Principal
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.errors import GatewayError, LimitExceeded, StoreError, Unauthenticated
from gateway.store.protocols import AgentKey
from tests.clocks import ManualClock
from tests.remembered import MemoryKeys

NOW = datetime(2026, 11, 20, tzinfo=UTC)


class CountingKeys(MemoryKeys):
    """Counts look-ups, can fail, and can hold them back until released."""

    def __init__(self) -> None:
        super().__init__()
        self.lookups = 0
        self.is_broken = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def find(self, digest: str) -> AgentKey | None:
        self.lookups += 1
        if self.is_broken:
            raise StoreError("the database is locked")
        found = await super().find(digest)
        await self.gate.wait()
        return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def store() -> CountingKeys:
    return CountingKeys()


@pytest.fixture
def authenticator(store, clock) -> Authenticator:
    return Authenticator(store, clock)


@pytest.fixture
def keys(store, clock, authenticator) -> Keys:
    return Keys(store, clock, {"flight_search"}, authenticator.invalidate)


def bearer(key: str) -> Credentials:
    return Credentials(bearer=key)


async def test_a_key_in_force_identifies_its_agent(authenticator, keys) -> None:
    made = await keys.create("flight_search", "ci")

    assert await authenticator.identify(bearer(made.key)) == Principal(
        subject=made.record.id, agent="flight_search"
    )


@pytest.mark.parametrize(
    "presented", ["", "gw_wrong", "x" * 513, "x" * 100_000, "é\0\ud800", "canary-secret"]
)
async def test_anything_else_identifies_nobody_and_is_not_repeated(
    authenticator, presented
) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await authenticator.identify(bearer(presented))

    assert refused.value.presented is True
    assert "canary" not in repr(refused.value)


async def test_no_credentials_are_distinguished_from_wrong_ones(authenticator) -> None:
    with pytest.raises(Unauthenticated) as refused:
        await authenticator.identify(Credentials())

    assert refused.value.presented is False


async def test_the_digest_of_a_key_is_not_a_key(authenticator, keys) -> None:
    made = await keys.create("flight_search", "ci")

    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer(made.record.digest))


async def test_a_key_revoked_in_this_process_is_refused_at_once(authenticator, keys) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))

    await keys.revoke(made.record.id)

    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer(made.key))


async def test_a_key_revoked_elsewhere_is_refused_within_seconds(
    authenticator, keys, store, clock
) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))
    await store.revoke(made.record.id, NOW)

    clock.seconds += TTL_SECONDS

    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer(made.key))


async def test_a_key_revoked_while_it_is_looked_up_is_not_remembered(
    authenticator, keys, store
) -> None:
    made = await keys.create("flight_search", "ci")
    store.gate.clear()
    racing = asyncio.create_task(authenticator.identify(bearer(made.key)))
    await turns()

    await keys.revoke(made.record.id)
    store.gate.set()
    await racing

    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer(made.key))


async def test_a_key_made_in_this_process_works_even_if_it_was_refused_before(
    authenticator, keys, store
) -> None:
    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer("k" * 20))

    await keys._add("k" * 20, "flight_search", "ci")

    assert (await authenticator.identify(bearer("k" * 20))).agent == "flight_search"


async def test_a_decision_is_remembered_for_a_while(authenticator, keys, store, clock) -> None:
    made = await keys.create("flight_search", "ci")

    for _ in range(10):
        await authenticator.identify(bearer(made.key))
        with pytest.raises(Unauthenticated):
            await authenticator.identify(bearer("wrong"))
    assert store.lookups == 3

    clock.seconds += TTL_SECONDS
    await authenticator.identify(bearer(made.key))
    assert store.lookups == 4


async def test_callers_of_one_key_wait_for_one_lookup(authenticator, keys, store, clock) -> None:
    made = await keys.create("flight_search", "ci")
    for _ in range(2):
        store.lookups = 0
        store.gate.clear()
        callers = [asyncio.create_task(authenticator.identify(bearer(made.key))) for _ in range(99)]
        await turns()
        callers.pop().cancel()
        store.gate.set()
        assert len(set(await asyncio.gather(*callers))) == 1
        assert store.lookups == 1
        clock.seconds += TTL_SECONDS


async def test_a_key_in_use_is_looked_up_again_before_anybody_must_wait(
    authenticator, keys, store, clock
) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))
    await store.revoke(made.record.id, NOW)
    store.gate.clear()
    before = store.lookups

    clock.seconds += TTL_SECONDS / 2
    for _ in range(9):
        await authenticator.identify(bearer(made.key))
        await turns()
    assert store.lookups == before + 1
    store.gate.set()
    await turns()

    with pytest.raises(Unauthenticated):
        await authenticator.identify(bearer(made.key))


async def test_a_decision_holds_to_its_end_while_the_store_fails(
    authenticator, keys, store, clock
) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))
    store.is_broken, before = True, store.lookups
    for _ in range(20):
        clock.seconds += TTL_SECONDS / 21
        await authenticator.identify(bearer(made.key))
        await turns()
    assert store.lookups - before == 2, "it is tried again after a second"
    clock.seconds += 1
    with pytest.raises(KeyNotChecked):
        await authenticator.identify(bearer(made.key))


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_valid", [True, False])
async def test_only_keys_that_are_found_invalid_count_for_the_limit(
    store, clock, *, is_valid: bool
) -> None:
    throttle = Throttle(clock, ThrottleLimits(of_one_host=Rate(1e-9, 3), delay_seconds=0))
    authenticator = Authenticator(store, clock, throttle)
    keys = Keys(store, clock, {"flight_search"}, authenticator.invalidate)
    key = (await keys.create("flight_search", "ci")).key if is_valid else "k" * 20
    store.gate.clear()
    callers = [asyncio.create_task(authenticator.identify(bearer(key))) for _ in range(9)]
    await turns()
    callers[0].cancel()
    store.gate.set()
    ends = await asyncio.gather(*callers, return_exceptions=True)

    refused = [type(end) for end in ends[1:]]
    if is_valid:
        assert set(refused) == {Principal}
    else:
        assert refused == [Unauthenticated] * 2 + [LimitExceeded] * 6
    store.is_broken = True
    authenticator.invalidate()
    for _ in range(9):
        with pytest.raises(KeyNotChecked if is_valid else LimitExceeded):
            await authenticator.identify(bearer(key))


async def test_who_asks_after_a_revocation_does_not_get_the_lookup_before_it(
    authenticator, keys, store
) -> None:
    made = await keys.create("flight_search", "ci")
    store.gate.clear()
    before = asyncio.create_task(authenticator.identify(bearer(made.key)))
    await turns()
    await keys.revoke(made.record.id)
    after = asyncio.create_task(authenticator.identify(bearer(made.key)))
    await turns()
    store.gate.set()

    await before
    with pytest.raises(Unauthenticated):
        await after


async def test_a_slow_lookup_does_not_prolong_what_it_read(
    authenticator, keys, store, clock
) -> None:
    """The key may have been revoked by another process since the store read it."""
    made = await keys.create("flight_search", "ci")
    store.gate.clear()
    waiting = asyncio.create_task(authenticator.identify(bearer(made.key)))
    await turns()
    clock.seconds += TTL_SECONDS - 1
    store.gate.set()
    await waiting
    before = store.lookups
    clock.seconds += 1
    await authenticator.identify(bearer(made.key))
    assert store.lookups == before + 1


async def test_a_flood_of_wrong_keys_neither_grows_without_bound_nor_evicts_a_right_one(
    authenticator, keys, store
) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))

    for number in range(MAX_REMEMBERED + 10):
        with pytest.raises(Unauthenticated):
            await authenticator.identify(bearer(f"wrong-{number}"))

    assert len(authenticator._invalid) == MAX_REMEMBERED
    before = store.lookups
    await authenticator.identify(bearer(made.key))
    assert store.lookups == before


async def test_what_cannot_be_found_out_is_denied(authenticator, keys, store, clock) -> None:
    made = await keys.create("flight_search", "ci")
    await authenticator.identify(bearer(made.key))
    store.is_broken = True
    clock.seconds += TTL_SECONDS

    with pytest.raises(KeyNotChecked):
        await authenticator.identify(bearer(made.key))


async def test_neither_key_nor_digest_shows_in_logs_or_errors(
    authenticator, keys, store, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    made = await keys.create("flight_search", "ci")
    shown = [repr(bearer(made.key)), repr(made), repr(authenticator), repr(keys)]
    await authenticator.identify(bearer(made.key))
    await keys.revoke(made.record.id)
    for is_broken in (False, True):
        store.is_broken = is_broken
        authenticator.invalidate()
        with pytest.raises(GatewayError) as refused:
            await authenticator.identify(bearer(made.key))
        shown += [repr(refused.value), str(refused.value), repr(refused.value.__cause__)]

    text = "\n".join([*shown, caplog.text])
    assert made.key not in text
    assert digest_of(made.key) not in text
