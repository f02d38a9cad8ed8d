"""Processes that share a Redis know of each other which upstreams fail."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from gateway.calls import guard
from gateway.calls.guard import Breaker, NotSent, Passage, SharedBreakers, UpstreamGuard
from gateway.calls.sending import CallTrials
from gateway.store.protocols import BreakerChange
from gateway.store.redis import BREAKERS_PREFIX, RedisBreakers
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.redis_server import RedisServer

ATTEMPT = 10.0


class Member:
    """A process with the guard of one upstream."""

    def __init__(self, url: str) -> None:
        self.clock = ManualClock()
        self.breaker = Breaker(self.clock, 5)
        self.guard = UpstreamGuard("Shop", self.clock, max_requests=200, breaker=self.breaker)
        self.board = RedisBreakers(url)
        self.writing = 0
        self.board.post = self._noted(self.board.post)  # type: ignore[method-assign]  # counts
        self.board.end_trial = self._noted(self.board.end_trial)  # type: ignore[method-assign]  # counts
        self.shared = SharedBreakers(self.board)
        self.guard.share(self.shared, "shop")
        self.tries = 0
        self._share, self.shared._share = self.shared._share, self._counted  # type: ignore[method-assign]  # counts

    def _noted(self, write: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def noted(*what: Any) -> None:
            self.writing += 1
            try:
                await write(*what)
            finally:
                self.writing -= 1

        return noted

    async def enter(self) -> Passage:
        return await CallTrials().admitted("shop", self.guard, "look", ATTEMPT)

    async def fail(self, times: int = 5) -> None:
        for _ in range(times):
            self.guard.leave(await self.enter(), "failure")

    async def until(self, state: str) -> None:
        async def reached() -> bool | None:
            return self.guard.state == state or None

        await eventually(reached)

    async def joined(self, *, is_joined: bool = True) -> None:
        async def reached() -> bool | None:
            return self.shared._is_joined is is_joined or None

        await eventually(reached)

    async def _counted(self) -> None:
        self.tries += 1
        await self._share()

    async def tried_again(self, times: int = 3) -> None:
        """Until it has tried so often again to reach Redis."""
        enough = self.tries + times

        async def reached() -> bool | None:
            return self.tries >= enough or None

        await eventually(reached)

    async def posted(self) -> None:
        """Until Redis has all that this process changed."""

        async def reached() -> bool | None:
            return not (self.shared._changed or self.shared._ended or self.writing) or None

        await eventually(reached)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_PAUSE_SECONDS", 0.01)


@asynccontextmanager
async def member(url: str) -> AsyncIterator[Member]:
    made = Member(url)
    task = asyncio.create_task(made.shared.work())
    try:
        await made.joined()
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.board.close()


@pytest.mark.redis
async def test_an_upstream_that_fails_in_one_process_is_shut_in_all(redis: RedisServer) -> None:
    async with member(redis.url) as one, member(redis.url) as other:
        await one.fail()
        await other.until("open")

        with pytest.raises(NotSent, match="failed repeatedly"):
            await other.enter()
        other.clock.advance(2.0)
        other.guard.leave(await other.enter(), "success")

        await one.until("closed")


class DeafBoard:
    """Loses the first cancellation, as Redis's client does when a message comes with it."""

    def __init__(self) -> None:
        self.is_listening = False

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[AsyncIterator[BreakerChange]]:
        yield self._feed()

    async def _feed(self) -> AsyncIterator[BreakerChange]:
        self.is_listening = True
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        yield BreakerChange("other", 0.0, 0.0)
        await asyncio.Event().wait()


async def test_a_process_ends_although_a_cancellation_is_lost() -> None:
    board = DeafBoard()
    work = asyncio.create_task(SharedBreakers(cast("RedisBreakers", board)).work())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not board.is_listening:  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0)
    work.cancel()
    ended, _ = await asyncio.wait({work}, timeout=PATIENCE_SECONDS)
    assert ended


@pytest.mark.redis
async def test_a_process_that_starts_late_knows_too(redis: RedisServer) -> None:
    async with member(redis.url) as one:
        await one.fail()
        one.clock.advance(2.0)
        await one.fail(1)
        await one.posted()
    async with member(redis.url) as late:
        await late.until("open")
        assert 3 < late.breaker.wait_seconds() <= late.breaker.wait == 4


@pytest.mark.redis
async def test_all_processes_together_have_one_trial_at_a_time(redis: RedisServer) -> None:
    async with AsyncExitStack() as stack:
        members = [await stack.enter_async_context(member(redis.url)) for _ in range(4)]
        await members[0].fail()
        for each in members:
            await each.until("open")
            each.clock.advance(2.0)

        found = await asyncio.gather(*(each.enter() for each in members), return_exceptions=True)
        trials = {at: each for at, each in enumerate(found) if isinstance(each, Passage)}
        assert len(trials) == 1
        assert [type(each) for each in found].count(NotSent) == 3
        assert [each.guard.requests_under_way for each in members].count(0) == 3
        (at, trial), *_ = trials.items()
        other = members[at - 1]
        other.clock.advance(1.0)
        with pytest.raises(NotSent):
            await other.enter()

        members[at].guard.leave(trial, "none")
        await members[at].posted()
        other.clock.advance(1.0)
        assert (await other.enter()).is_trial


@pytest.mark.redis
async def test_a_trial_that_fails_doubles_the_wait_of_all(redis: RedisServer) -> None:
    async with member(redis.url) as one, member(redis.url) as other:
        await one.fail()
        await other.until("open")
        other.clock.advance(2.0)
        await other.fail(1)

        async def doubled() -> bool | None:
            return one.breaker.wait == 4 or None

        await eventually(doubled)
        assert one.breaker.wait_seconds() == 4


@pytest.mark.redis
async def test_without_its_redis_each_process_goes_on_and_says_so_once(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway.calls.guard")
    async with member(redis.url) as one, member(redis.url) as other:
        redis.stop()
        for each in (one, other):
            await each.joined(is_joined=False)
        await one.fail()
        one.clock.advance(2.0)
        trial = await one.enter()
        assert (trial.is_trial, one.guard.state) == (True, "half-open")
        one.guard.leave(trial, "failure")
        assert (one.guard.state, other.guard.state) == ("open", "closed")
        for each in (one, other):
            await each.tried_again()
        lost = [each for each in caplog.records if "not shared" in each.message]
        assert len(lost) == 2

        redis.start()
        await other.until("open")
        assert other.breaker.wait == 4
    texts = [each.message for each in caplog.records if each.levelno == logging.WARNING]
    assert len(texts) == 2
    assert all("redis://" not in each for each in texts)


@pytest.mark.redis
async def test_a_trial_begins_though_redis_dies_while_it_is_asked(redis: RedisServer) -> None:
    async with member(redis.url) as one:
        await one.fail()
        await one.posted()
        one.clock.advance(2.0)
        redis.stop()
        one.shared._is_joined = True
        assert (await one.enter()).is_trial


@pytest.mark.redis
async def test_what_others_store_does_no_harm(redis: RedisServer) -> None:
    outsider: Redis = Redis.from_url(redis.url)
    for value in (b"nan", b"\xff", b"", b"inf"):
        await outsider.set(f"{BREAKERS_PREFIX}shop", value)
        async with member(redis.url) as one:
            assert one.guard.state == "closed"
    await outsider.set(f"{BREAKERS_PREFIX}shop", b"1e300")
    async with member(redis.url) as one:
        assert one.breaker.wait == 30
        assert one.breaker.wait_seconds() == 0
    await outsider.aclose()


@pytest.mark.redis
async def test_what_others_write_into_the_channel_does_no_harm(redis: RedisServer) -> None:
    outsider: Redis = Redis.from_url(redis.url)
    forged = (
        b"\xff",
        b"[]",
        b'{"sender":"\xff","upstream":"shop","wait_seconds":9}',
        b'{"sender":"x","upstream":"other","wait_seconds":9}',
        b'{"sender":"x","upstream":"shop","wait_seconds":1e300}',
    )
    async with member(redis.url) as one:
        for each in forged:
            await outsider.publish(f"{BREAKERS_PREFIX}changes", each)
        await one.until("open")
        assert one.breaker.wait_seconds() == 30
    await outsider.aclose()
