"""What processes put into a Redis for each other is bounded, and is read as data."""

import time

import msgspec
import pytest

from gateway.calls.caching.answers import KeptResult, SealedResult, Sealing
from gateway.calls.call import Result
from gateway.store.redis import MAX_BYTES, MAX_VALUE_BYTES, MAX_VALUES, RESULTS_PREFIX
from tests.redis_server import RedisServer
from tests.shared_results import SECRET, STATE, asked, outsider, permit, processes

pytestmark = pytest.mark.redis

VALUES = f"{RESULTS_PREFIX}*:{'?' * 40}"


async def test_no_key_names_an_argument_and_each_ends(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, _), outsider(redis.url) as client:
        await one.read(client="Ada Lovelace")
        await one.write()
        await one.read(client="Ada Lovelace")
        keys = await client.keys()
        assert len(keys) == 3
        assert all(b"Ada" not in key for key in keys)
        for key in keys:
            assert await client.ttl(key) > 0


async def test_another_contract_or_upstream_never_gets_it(redis: RedisServer) -> None:
    async with processes(redis.url, secrets=(SECRET, b"another")) as (one, other):
        await one.read()
        await other.read()
        assert one.upstream.reads == 2


async def test_what_others_store_is_no_result(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, other), outsider(redis.url) as client:
        await one.read(q=1)
        (name,) = await client.keys(VALUES)
        value = await client.get(name)
        state, now = value[:32], int(time.time() * 1_000_000)
        fresh = SealedResult(now, "live", 0, b'{"n":9}')
        forged = [
            state + bytes(16) + msgspec.msgpack.encode(fresh),
            Sealing(b"another").seal(state, name[-40:].decode(), fresh),
            value[:-1] + bytes([value[-1] ^ 1]),
            value[:-1],
            state,
            b"",
            b"x" * (MAX_VALUE_BYTES + 1),
        ]
        for each in forged:
            await client.set(name, each)
            reads = one.upstream.reads
            assert await other.number(q=1) == 0
            assert one.upstream.reads == reads + 1
            other.cache.kept._kept.clear()
        await client.delete(name)
        await client.lpush(name, "x")
        assert await other.number(q=1) == 0


async def test_the_result_of_another_question_is_no_result(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, other), outsider(redis.url) as client:
        await one.read(q=1)
        (first,) = await client.keys(VALUES)
        one.upstream.changes = 5
        await one.read(q=2)
        for name in await client.keys(VALUES):
            await client.set(name, await client.get(first))
        assert [await other.number(q=2), one.upstream.reads] == [5, 3]


async def test_what_was_made_before_a_write_takes_no_place(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, _), outsider(redis.url) as client:
        found = await one.shared.find(permit().entry.operation, b"q")
        assert found is not None
        await one.write()
        await one.shared.keep("shop", found, KeptResult(b"{}", "live", 0, 0.0), 60)
        assert await client.keys(VALUES) == []


@pytest.mark.parametrize("part", ["state", "index"])
async def test_what_others_put_in_place_of_a_state_does_no_lasting_harm(
    redis: RedisServer, part: str
) -> None:
    async with processes(redis.url) as (one, other), outsider(redis.url) as client:
        await one.read()
        await client.set(f"{RESULTS_PREFIX}{{shop}}:{part}", "x")
        await other.read()
        await one.write()
        assert [await one.number(), await other.number()] == [1, 1]
        reads = one.upstream.reads
        assert [await one.number(), await other.number()] == [1, 1]
        assert one.upstream.reads == reads


async def test_a_connector_keeps_no_more_than_its_part(redis: RedisServer) -> None:
    large = b'{"text":"%b"}' % (b"x" * (MAX_VALUE_BYTES - 200))

    async def run() -> Result:
        return Result({}, large, "live")

    async with processes(redis.url) as (one, _), outsider(redis.url) as client:
        for each in range(40):
            await one.cache.answer(permit(), asked(q=each), run)
        assert await client.dbsize() == 32 + 2
        assert int(await client.hget(STATE, "bytes")) <= MAX_BYTES
        await one.write()
        assert await client.dbsize() == 1
        assert await client.hget(STATE, "bytes") == b"0"
        for each in range(MAX_VALUES + 20):
            await one.read(q=each)
        assert await client.dbsize() == MAX_VALUES + 2

        async def too_large() -> Result:
            return Result({}, large + b" " * 400, "live")

        await one.write()
        await one.cache.answer(permit(), asked(), too_large)
        assert await client.dbsize() == 1


async def test_results_about_sensitive_arguments_are_not_shared(redis: RedisServer) -> None:
    secret = permit(sensitive=("/passport",))
    async with processes(redis.url) as (one, _), outsider(redis.url) as client:
        for _ in range(2):
            await one.read(secret, passport="C01X00T47")
        assert one.upstream.reads == 2
        assert await client.dbsize() == 0
