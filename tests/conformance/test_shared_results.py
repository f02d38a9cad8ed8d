"""Processes that share a Redis share results of reads, and a write of one ends them in all."""

import asyncio
import logging
import os
import signal

import pytest

from gateway.calls.caching.answers import NotAnnounced
from gateway.calls.call import Result
from gateway.errors import InvalidReply, UpstreamRejected, UpstreamUnavailable
from gateway.store.redis import TIMEOUT_SECONDS
from tests.eventually import PATIENCE_SECONDS
from tests.redis_server import RedisServer
from tests.shared_results import STATE, WRITE, outsider, permit, processes

pytestmark = pytest.mark.redis


async def test_what_one_process_fetched_another_one_uses_and_says_how_old_it_is(
    redis: RedisServer,
) -> None:
    async with processes(redis.url) as (one, other):
        made = await one.read(q="x")
        await asyncio.sleep(1.1)
        first = await other.read(q="x")
        kept = await other.read(q="x")

        assert one.upstream.reads == 1
        assert (first.age is not None and first.age.is_reused) is False
        assert (kept.values, kept.text, kept.backend) == (made.values, made.text, "live")
        assert made.age is not None
        assert kept.age is not None
        assert (made.age.is_reused, kept.age.is_reused) == (False, True)
        assert 0.0 <= kept.age.seconds < 60  # since this process told it
        assert kept.age.left_seconds == 0  # a client may not keep what others may change
        other.clock.advance(58.5)
        assert await other.number(q="y") == 0
        assert (one.upstream.reads, one.cache.kept.hits, other.cache.kept.hits) == (2, 0, 2)


async def test_the_age_of_a_result_ends_its_use_in_each_process(redis: RedisServer) -> None:
    async with processes(redis.url, settling=None) as (one, other):
        await one.read(permit(4))
        await asyncio.sleep(2)
        await other.read(permit(4))
        other.clock.advance(2.1)
        await asyncio.sleep(2.1)

        await other.read(permit(4))
        assert other.upstream.reads == 2


async def test_a_write_of_one_process_ends_what_another_one_keeps(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, other):
        assert [await other.number(), await one.number()] == [0, 0]
        await one.write()
        assert [await other.number(), await one.number(), await other.number()] == [1, 1, 1]
        assert one.upstream.reads == 2


async def test_while_a_write_is_under_way_nothing_is_used_or_kept(redis: RedisServer) -> None:
    both = processes(redis.url, settling=30.0), outsider(redis.url)
    async with both[0] as (one, other), both[1] as client:
        await other.read()
        await client.hdel(STATE, "write:unknown")
        await other.read()

        async def slow() -> Result:
            for _ in range(2):
                assert await other.number() == 0
            return await one.upstream.write()

        await one.cache.answer(permit(), WRITE, slow)
        assert other.upstream.reads == 4
        assert [await other.number(), await other.number()] == [1, 1]
        assert other.upstream.reads == 5


async def test_a_read_that_a_write_of_another_process_overtakes_is_not_kept(
    redis: RedisServer,
) -> None:
    async with processes(redis.url) as (one, other):
        upstream = one.upstream
        upstream.gate.clear()
        overtaken = asyncio.create_task(other.number())
        while not upstream.reads:  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0.01)
        await one.write()
        # Who asks after the write does not wait for the read from before it.
        later = asyncio.create_task(other.number())
        while upstream.reads < 2:  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0.01)
        upstream.gate.set()

        assert [await overtaken, await later] == [0, 1]
        assert [await other.number(), await one.number()] == [1, 1]


async def test_those_who_ask_one_process_at_once_share_one_request(redis: RedisServer) -> None:
    async with processes(redis.url) as (one, _):
        assert await asyncio.gather(*(one.number() for _ in range(20))) == [0] * 20
        assert one.upstream.reads == 1


@pytest.mark.parametrize(
    ("failure", "is_settled"),
    [(InvalidReply(), False), (asyncio.CancelledError(), False), (UpstreamRejected(), True)],
)
async def test_a_write_that_may_still_happen_keeps_the_connector_unkept_in_all_processes(
    redis: RedisServer, failure: BaseException, is_settled: bool
) -> None:
    short = permit(timeout_seconds=3.0)

    async def write() -> Result:
        raise failure

    async with processes(redis.url) as (one, other):
        with pytest.raises(type(failure)):
            await one.cache.answer(short, WRITE, write)
        for _ in range(2):
            await other.read(short)
        assert other.upstream.reads == (1 if is_settled else 2)
        await asyncio.sleep(3.1)
        for _ in range(2):
            await other.read(short)
        assert other.upstream.reads == (1 if is_settled else 3)


async def test_a_write_whose_process_dies_ends_by_itself(redis: RedisServer) -> None:
    async with processes(redis.url, settling=3.0) as (one, other):
        await other.read()
        assert await one.shared.announce("shop")
        for _ in range(2):
            await other.read()
        assert other.upstream.reads == 3
        await asyncio.sleep(3.1)
        for _ in range(2):
            await other.read()
        assert other.upstream.reads == 4


async def test_a_write_that_is_cancelled_twice_still_ends_for_others(redis: RedisServer) -> None:
    both = processes(redis.url, settling=30.0), outsider(redis.url)
    async with both[0] as (one, other), both[1] as client:
        begun = asyncio.Event()

        async def stuck() -> Result:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

        writing = asyncio.create_task(one.cache.answer(permit(), WRITE, stuck))
        await begun.wait()
        writing.cancel()
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await asyncio.gather(*one.shared._ending)
        marks = [each for each in await client.hkeys(STATE) if each.startswith(b"write:")]
        # That of the new state, and that of the write, which may still happen.
        assert len(marks) == 2
        await other.read()


class TestWithoutRedis:
    async def test_nothing_that_a_write_may_change_is_used_and_no_write_is_made(
        self, redis: RedisServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "gateway.calls.caching.shared")
        async with processes(redis.url) as (one, other):
            await one.read()
            redis.stop()
            unkept = [await each.read() for each in (one, other, one)]

            assert one.upstream.reads == 4
            # Without an age, a transport says that no client may keep it either.
            assert [each.age for each in unkept] == [None] * 3
            with pytest.raises(NotAnnounced) as refused:
                await one.write()
            assert refused.value.is_retryable
            assert one.upstream.changes == 0

            redis.start()
            await one.write()
            assert [await one.number(), await one.number()] == [1, 1]
        said = [each.message for each in caplog.records if each.name.endswith("shared")]
        assert len(said) == 3  # both lost it, and one has found it again
        assert all("redis://" not in each for each in said)

    async def test_a_write_that_redis_has_confirmed_is_answered(self, redis: RedisServer) -> None:
        async with processes(redis.url) as (one, _):

            async def write() -> Result:
                redis.stop()
                return await one.upstream.write()

            await one.cache.answer(permit(), WRITE, write)
            assert await one.number() == 1

    async def test_a_process_that_alone_is_cut_off_makes_no_write(self, redis: RedisServer) -> None:
        async with processes("redis://127.0.0.1:1/0", redis.url) as (one, other):
            await other.read()
            with pytest.raises(NotAnnounced):
                await one.write()
            assert [await other.number(), one.upstream.changes] == [0, 0]

    async def test_results_that_no_tool_changes_are_kept_by_each_process(
        self, redis: RedisServer
    ) -> None:
        async with processes(redis.url, settling=None) as (one, other):
            redis.stop()
            for each in (one, one, other, other):
                await each.read()
            assert one.upstream.reads == 2

    async def test_a_redis_that_hangs_delays_a_read_only_for_a_moment(
        self, redis: RedisServer
    ) -> None:
        async with processes(redis.url, patience=TIMEOUT_SECONDS) as (one, other):
            await one.read(q=1)
            assert redis._process is not None
            os.kill(redis._process.pid, signal.SIGSTOP)
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    found = await asyncio.gather(*(other.read(q=each) for each in range(40)))
            finally:
                os.kill(redis._process.pid, signal.SIGCONT)
            assert {each.age for each in found} == {None}
            # No connection gives the answer to an earlier question.
            for each in range(40):
                other.clock.advance(2)
                assert (await other.read(q=each)).text == b'{"n":0}'
            await one.write()
            for each in range(40):
                other.clock.advance(2)
                assert await other.number(q=each) == 1

    async def test_a_redis_that_was_restarted_has_nothing_from_before(
        self, redis: RedisServer
    ) -> None:
        """It may bring back an older state, in which the latest write has not happened."""
        async with processes(redis.url) as (one, other):
            await one.read()
            async with outsider(redis.url) as client:
                before = {key: await client.dump(key) for key in await client.keys()}
            await one.write()
            redis.stop()
            redis.start()
            async with outsider(redis.url) as client:
                for key, value in before.items():
                    await client.restore(key, 60_000, value)

            await other.read()  # its connection has ended with the old server
            other.clock.advance(2)
            assert await other.number() == 1

    async def test_after_a_loss_of_its_state_a_connector_is_not_settled(
        self, redis: RedisServer
    ) -> None:
        both = processes(redis.url, settling=30.0), outsider(redis.url)
        async with both[0] as (one, other), both[1] as client:
            for _ in range(2):
                await other.read()
            assert other.upstream.reads == 2
            await client.hdel(STATE, "write:unknown")
            for _ in range(2):
                await other.read()
            assert other.upstream.reads == 3
            await client.delete(STATE)
            for _ in range(2):
                await one.read()
            assert other.upstream.reads == 5


class TestStale:
    DOWN = UpstreamUnavailable("Nobody answers.")

    async def test_a_stale_result_of_another_process_is_used_while_the_upstream_fails(
        self, redis: RedisServer
    ) -> None:
        may_be_stale = permit(1, stale_seconds=600)
        for settling in (0.0, None):
            async with processes(redis.url, settling=settling) as (one, other):
                await one.read(may_be_stale)
                await asyncio.sleep(1.1)
                one.upstream.failure = self.DOWN
                # Those who wait for the first get it too.
                found = await asyncio.gather(*(other.read(may_be_stale) for _ in range(3)))
                for each in found:
                    assert each.age is not None
                    assert isinstance(each.age.failure, UpstreamUnavailable)
                    assert each.age.seconds > 1
                assert other.cache.kept.stale_uses == 3

    async def test_after_a_write_of_another_process_nothing_older_is_stale(
        self, redis: RedisServer
    ) -> None:
        may_be_stale = permit(1, stale_seconds=600)
        async with processes(redis.url) as (one, other):
            await other.read(may_be_stale)
            await one.write(may_be_stale)
            one.upstream.failure = self.DOWN
            with pytest.raises(UpstreamUnavailable):
                await other.read(may_be_stale)
