"""Counters of limits in Redis. One script counts a call for all its limits, or for none.

The package `redis` is optional. This module is imported when a gateway has a Redis.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gateway.errors import StoreError
from gateway.store.usage import (
    SHARE,
    CounterId,
    CounterReading,
    Decision,
    Demand,
    Entries,
    Return,
    decision_of,
    drop_ended,
    taken_of,
    usage_of,
)

PREFIX: Final = "contract-gateway:limits:"
_SECOND: Final = 1_000_000
_CONNECTIONS: Final = 32
_TIMEOUT_SECONDS: Final = 2.0
_SCANNED: Final = 500
_SCRIPT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local held, refused, taken, left = {}, {}, {}, {}
for i, key in ipairs(KEYS) do
  local base, sum, fields = 2 + (i - 1) * 6, 0, redis.call('HGETALL', key)
  held[i] = {}
  for j = 1, #fields, 2 do
    local ends, units = string.match(fields[j + 1], '^(%d+) (%d+)$')
    if tonumber(ends) <= now then
      redis.call('HDEL', key, fields[j])
    else
      sum = sum + tonumber(units)
      held[i][#held[i] + 1] = fields[j]
      held[i][#held[i] + 1] = fields[j + 1]
    end
  end
  left[i] = tonumber(ARGV[base + 1]) - sum - tonumber(ARGV[base + 4])
  if left[i] < 0 then refused[#refused + 1] = i end
end
if #refused == 0 then
  for i, key in ipairs(KEYS) do
    local base = 2 + (i - 1) * 6
    local kind, length, step = ARGV[base], tonumber(ARGV[base + 2]), tonumber(ARGV[base + 3])
    local ends = now + length
    local rest = step > 0 and math.fmod(now, step) or 0
    if rest > 0 then ends = ends + step - rest end
    if kind == 'day' then ends = now - math.fmod(now, length) + length end
    local text = string.format('%.0f', ends)
    local name = kind == 'lease' and ARGV[1] or text
    local before = redis.call('HGET', key, name)
    local units = tonumber(ARGV[base + 4])
    local ahead = math.min(tonumber(ARGV[base + 5]), math.floor(left[i] / {SHARE}))
    ahead = ahead - math.fmod(ahead, units)
    taken[i] = {name, text, ahead}
    units = units + ahead
    if before then units = units + tonumber(string.match(before, ' (%d+)$')) end
    local value = text .. ' ' .. string.format('%.0f', units)
    redis.call('HSET', key, name, value)
    held[i][#held[i] + 1] = name
    held[i][#held[i] + 1] = value
    local lasts = math.ceil((ends - now) / 1000) + 1000
    if redis.call('PTTL', key) < lasts then redis.call('PEXPIRE', key, lasts) end
  end
end
return {string.format('%.0f', now), refused, held, taken}
""".replace("{SHARE}", str(SHARE))
"""The arguments are the holder, and for each key: kind, limit, seconds and step (in microseconds),
units and units ahead. It does the same as `take_all`. The time is Redis's."""
_RESTORE: Final = """
for i, key in ipairs(KEYS) do
  local entry, back = ARGV[i * 2 - 1], tonumber(ARGV[i * 2])
  local ends, units = string.match(redis.call('HGET', key, entry) or '', '^(%d+) (%d+)$')
  if back > 0 and units and tonumber(units) > back then
    redis.call('HSET', key, entry, ends .. ' ' .. string.format('%.0f', units - back))
  else
    redis.call('HDEL', key, entry)
  end
end
"""
"""The arguments are the entry and the units for each key. It does the same as `put_back`."""


class RedisUsage:
    """A `UsageStore` in Redis."""

    def __init__(self, url: str, home: Callable[[], Awaitable[str]]) -> None:
        """It connects when it is used. `home` gives the name of the store whose calls it counts.

        Gateways with other stores have agents of the same names, and other limits.
        """
        self._home = home
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_TIMEOUT_SECONDS,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            # A command that is sent again after a timeout could count a call twice.
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )
        self._client = Redis(connection_pool=pool)
        self._take = self._client.register_script(_SCRIPT)
        self._restore = self._client.register_script(_RESTORE)
        self._releasing: set[asyncio.Task[None]] = set()

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        """See `UsageStore`."""
        keys = await self._keys(each.counter for each in demands)
        arguments: list[str | int] = [holder]
        for each in demands:
            length, step = round(each.seconds * _SECOND), round(each.step_seconds * _SECOND)
            arguments += [each.kind, each.max, length, step, each.units, each.ahead]
        try:
            async with self._failures():
                now, refused, held, taken = await self._take(keys=keys, args=arguments)
        except asyncio.CancelledError:
            # The script may have run.
            self._release([each.counter for each in demands], holder)
            raise
        entries = [_entries(fields) for fields in held]
        pairs = zip(demands, taken, strict=False)
        took = [taken_of(each, name, int(until), ahead) for each, (name, until, ahead) in pairs]
        return decision_of(demands, entries, tuple(index - 1 for index in refused), int(now), took)

    async def give_back(self, counters: Sequence[str], holder: str) -> None:
        """See `UsageStore`."""
        await self.restore([Return(counter, holder) for counter in counters])

    async def restore(self, returns: Sequence[Return]) -> None:
        """See `UsageStore`."""
        keys = await self._keys(each.counter for each in returns)
        arguments = [part for each in returns for part in (each.entry, each.units)]
        async with self._failures():
            await self._restore(keys=keys, args=arguments)

    async def readings(self, limit: int) -> list[CounterReading]:
        """See `UsageStore`."""
        (prefix,) = await self._keys([""])
        async with self._failures():
            seconds, rest = await self._client.time()
            now = seconds * _SECOND + rest
            found = []
            async for key in self._client.scan_iter(match=f"{prefix}*", count=_SCANNED):
                fields = await self._client.hgetall(key)
                held = _entries([each for pair in fields.items() for each in pair])
                drop_ended(held, now)
                if held:
                    counter = CounterId.of_text(key.removeprefix(prefix))
                    found.append(CounterReading(counter, usage_of(held)))
                if len(found) >= limit:
                    break
        return sorted(found, key=lambda each: each.counter.text)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*self._releasing, return_exceptions=True)
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    async def _keys(self, counters: Iterable[str]) -> list[str]:
        """Raises `StoreError` if the name of the store cannot be read yet."""
        prefix = f"{PREFIX}{await self._home()}:"
        return [prefix + each for each in counters]

    def _release(self, counters: Sequence[str], holder: str) -> None:
        releasing = asyncio.create_task(self.give_back(counters, holder))
        self._releasing.add(releasing)
        releasing.add_done_callback(self._released)

    def _released(self, releasing: asyncio.Task[None]) -> None:
        self._releasing.discard(releasing)
        if not releasing.cancelled():
            # Read the exception, or asyncio logs it. The leases end by themselves.
            releasing.exception()

    @asynccontextmanager
    async def _failures(self) -> AsyncIterator[None]:
        """Turn errors of Redis into `StoreError`. Their texts may contain the URL."""
        try:
            yield
        except (RedisError, OSError) as error:
            raise StoreError(f"Redis did not answer ({type(error).__name__})") from None


def _entries(fields: Sequence[str]) -> Entries:
    """The entries that the script returned: name and value by turns."""
    held: Entries = {}
    for name, value in zip(fields[::2], fields[1::2], strict=True):
        until, _, units = value.partition(" ")
        held[name] = int(until), int(units)
    return held
