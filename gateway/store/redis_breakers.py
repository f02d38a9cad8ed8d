"""The states of breakers in Redis: a key for each upstream that fails, and a channel for changes.

The package `redis` is optional. This module is imported when a gateway has a Redis.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import isfinite
from typing import Any, Final
from uuid import uuid4

import msgspec
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gateway.errors import StoreError
from gateway.store.breakers import BreakerChange

PREFIX: Final = "contract-gateway:breakers:"
_CONNECTIONS: Final = 8
_TIMEOUT_SECONDS: Final = 1.0
"""A request that may try an upstream waits this long for Redis at most."""
_SILENCE_SECONDS: Final = 5.0
"""The connection is tried after this time without a message, and lost after the same time again."""
_KEPT_SECONDS: Final = 60.0
"""How long a key outlasts its wait. No process has tried the upstream for this time then."""
_END: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class _Message(msgspec.Struct, frozen=True):
    sender: str
    upstream: str
    wait_seconds: float


class RedisBreakers:
    """A `BreakerBoard` in Redis."""

    def __init__(self, url: str, prefix: str = PREFIX) -> None:
        """It connects when it is used."""
        self._prefix = prefix
        self._channel = f"{prefix}changes"
        self._sender = uuid4().hex
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._client = Redis(connection_pool=pool)
        self._end = self._client.register_script(_END)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[AsyncIterator[BreakerChange]]:
        """See `BreakerBoard`."""
        async with self._client.pubsub() as subscription:
            async with _failures():
                await subscription.subscribe(self._channel)
            yield self._changes(subscription)

    async def known(self, upstream: str) -> BreakerChange | None:
        """See `BreakerBoard`."""
        key = self._prefix + upstream
        async with _failures(), self._client.pipeline() as pipe:
            value, left = await pipe.get(key).pttl(key).execute()
        try:
            wait = float(value)
        except (TypeError, ValueError):
            return None
        if not isfinite(wait):
            return None
        return BreakerChange(upstream, wait, max(left / 1000 - _KEPT_SECONDS, 0.0))

    async def post(self, change: BreakerChange) -> None:
        """See `BreakerBoard`."""
        key = self._prefix + change.upstream
        message = _Message(self._sender, change.upstream, change.wait_seconds)
        async with _failures(), self._client.pipeline() as pipe:
            if change.wait_seconds:
                kept = round((change.left_seconds + _KEPT_SECONDS) * 1000)
                pipe.set(key, change.wait_seconds, px=kept)
            else:
                pipe.delete(key)
            await pipe.publish(self._channel, msgspec.json.encode(message)).execute()

    async def claim_trial(self, upstream: str, seconds: float) -> str | None:
        """See `BreakerBoard`."""
        lease = uuid4().hex
        async with _failures():
            key, milliseconds = self._trial(upstream), round(seconds * 1000)
            is_ours = await self._client.set(key, lease, nx=True, px=milliseconds)
        return lease if is_ours else None

    async def end_trial(self, upstream: str, lease: str) -> None:
        """See `BreakerBoard`."""
        async with _failures():
            await self._end(keys=[self._trial(upstream)], args=[lease])

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    def _trial(self, upstream: str) -> str:
        return f"{self._prefix}{upstream}:trial"

    async def _changes(self, subscription: PubSub) -> AsyncIterator[BreakerChange]:
        is_asked = False
        while True:
            async with _failures():
                message = await subscription.get_message(timeout=_SILENCE_SECONDS)
                if message is None:
                    if is_asked:
                        raise StoreError("Redis has not answered for a while")
                    await subscription.ping()
            is_asked = message is None
            change = None if message is None else self._read(message)
            if change is not None:
                yield change

    def _read(self, message: dict[str, Any]) -> BreakerChange | None:
        """The change of another process. Anyone who reaches the Redis can write to the channel."""
        if message["type"] != "message":
            return None
        try:
            read = msgspec.json.decode(message["data"], type=_Message)
        except (msgspec.MsgspecError, ValueError):
            return None
        if read.sender == self._sender:
            return None
        return BreakerChange(read.upstream, read.wait_seconds, read.wait_seconds)


@asynccontextmanager
async def _failures() -> AsyncIterator[None]:
    """Turn errors of Redis into `StoreError`. Their texts may contain the URL."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise StoreError(f"Redis did not answer ({type(error).__name__})") from None
