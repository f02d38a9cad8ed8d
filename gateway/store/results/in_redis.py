"""Results of reads in Redis: for each connector a state, an index of what is kept, and the values.

The package `redis` is optional. This module is imported when a gateway has a Redis.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gateway.errors import StoreError
from gateway.store.results.board import ResultReading

PREFIX: Final = "contract-gateway:results:"
MAX_VALUES: Final = 2000
"""How many results of one connector are kept. Those that end first go first."""
MAX_VALUE_BYTES: Final = 2**20
"""Larger values are neither kept nor read."""
MAX_BYTES: Final = 32 * 2**20
"""The size of all values of one connector."""
_CONNECTIONS: Final = 32
TIMEOUT_SECONDS: Final = 0.25
"""A call waits this long for one answer of Redis, connecting included."""
_SECOND: Final = 1_000_000
_STATE: Final = """
local state, index, name = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function mark(write, length)
  redis.call('HSET', state, 'write:' .. write, string.format('%.0f', now + length))
end
local function last(milliseconds)
  for _, key in ipairs({state, index}) do
    if redis.call('PTTL', key) < milliseconds then redis.call('PEXPIRE', key, milliseconds) end
  end
end
local function is_settled()
  local settled, fields = 1, redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 6) == 'write:' then
      local ends = tonumber(fields[i + 1])
      if ends and ends > now then settled = 0 else redis.call('HDEL', state, fields[i]) end
    end
  end
  return settled
end
local function drop(member)
  local key, size = string.match(member, '^(.*) (%d+)$')
  redis.call('UNLINK', key)
  redis.call('HINCRBY', state, 'bytes', -size)
end
local function renew()
  local members = redis.pcall('ZRANGE', index, 0, -1)
  for _, member in ipairs(members.err and {} or members) do drop(member) end
  redis.call('UNLINK', index)
  redis.call('HSET', state, 'name', name, 'bytes', 0)
end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not run then return redis.error_reply('no run_id') end
if redis.pcall('HGET', state, 'run') ~= run then
  redis.call('UNLINK', state)
  renew()
  redis.call('HSET', state, 'run', run)
  if tonumber(ARGV[2]) > 0 then mark('unknown', tonumber(ARGV[2])) end
  last(3600000)
end
"""
"""What each script begins with. A state is of one run of the server: after a restart or a failover,
which may bring back an older one, there is a new one. The first two arguments are the name of a new
state, and for how long a write that it does not know may still happen, in microseconds."""
_FIND: Final = """
local known, value = redis.call('HGET', state, 'name'), false
local length = redis.pcall('STRLEN', KEYS[3])
if type(length) == 'number' and length > 0 and length <= tonumber(ARGV[3]) then
  value = redis.call('GET', KEYS[3])
  if string.sub(value, 1, #known) ~= known then value = false end
end
return {string.format('%.0f', now), known, is_settled(), value}
"""
_KEEP: Final = """
if redis.call('HGET', state, 'name') ~= ARGV[3] then return 0 end
local size, milliseconds = #ARGV[4], tonumber(ARGV[5])
for _, member in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now)) do
  redis.call('ZREM', index, member)
  drop(member)
end
while redis.call('ZCARD', index) >= tonumber(ARGV[6])
    or redis.call('HGET', state, 'bytes') + size > tonumber(ARGV[7]) do
  local first = redis.call('ZPOPMIN', index)
  if #first == 0 then break end
  drop(first[1])
end
local member = KEYS[3] .. ' ' .. size
if redis.call('ZADD', index, now + milliseconds * 1000, member) == 1 then
  redis.call('HINCRBY', state, 'bytes', size)
end
redis.call('SET', KEYS[3], ARGV[4], 'PX', milliseconds)
last(milliseconds + 3600000)
return 1
"""
_BEGIN: Final = """
is_settled()
renew()
mark(ARGV[3], tonumber(ARGV[2]))
last(3600000 + math.ceil(ARGV[2] / 1000))
"""
_END: Final = """
renew()
redis.call('HDEL', state, 'write:' .. ARGV[3])
if tonumber(ARGV[4]) > 0 then mark(ARGV[3], tonumber(ARGV[4])) end
last(3600000 + math.ceil(ARGV[4] / 1000))
"""


class RedisResults:
    """A `ResultBoard` in Redis."""

    def __init__(
        self,
        url: str,
        settling: Mapping[str, float],
        prefix: str = PREFIX,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """It connects when it is used.

        `settling`: for how many seconds a write may still happen of which nothing is known, by
        connector. The others have no writes.
        """
        self._prefix = prefix
        self._settling = settling
        self._timeout_seconds = timeout_seconds
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 0),
        )
        self._client = Redis(connection_pool=pool)
        texts = _FIND, _KEEP, _BEGIN, _END
        scripts = [self._client.register_script(_STATE + each) for each in texts]
        self._find, self._keep, self._begin, self._end = scripts

    async def find(self, connector: str, key: str) -> ResultReading:
        """See `ResultBoard`."""
        found = await self._run(self._find, connector, key, [MAX_VALUE_BYTES])
        try:
            at, state, is_settled, value = found
            return ResultReading(state, is_settled == 1, int(at), value)
        except (TypeError, ValueError):
            raise StoreError("Redis gave an unknown answer") from None

    async def keep(
        self, connector: str, key: str, found: ResultReading, value: bytes, seconds: float
    ) -> None:
        """See `ResultBoard`."""
        if len(value) <= MAX_VALUE_BYTES:
            more = [found.state, value, round(seconds * 1000), MAX_VALUES, MAX_BYTES]
            await self._run(self._keep, connector, key, more)

    async def begin_write(self, connector: str, write: str) -> None:
        """See `ResultBoard`."""
        await self._run(self._begin, connector, "", [write])

    async def end_write(self, connector: str, write: str, unsettled_seconds: float) -> None:
        """See `ResultBoard`."""
        more = [write, round(unsettled_seconds * _SECOND)]
        await self._run(self._end, connector, "", more)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
        await self._client.connection_pool.disconnect()

    async def _run(self, script: Any, connector: str, key: str, more: Sequence[object]) -> Any:
        # The braces let a cluster keep all keys of a connector together.
        stem = f"{self._prefix}{{{connector}}}:"
        keys = [f"{stem}state", f"{stem}index", *([f"{stem}{key}"] if key else ())]
        settling = round(self._settling.get(connector, 0.0) * _SECOND)
        arguments = [uuid4().hex, settling, *more]
        async with _failures(), asyncio.timeout(self._timeout_seconds):
            return await script(keys=keys, args=arguments)


@asynccontextmanager
async def _failures() -> AsyncIterator[None]:
    """Turn errors of Redis into `StoreError`. Their texts may contain the URL."""
    try:
        yield
    except (RedisError, OSError, RuntimeError) as error:
        # uvloop raises RuntimeError for a connection that has just been closed.
        raise StoreError(f"Redis did not answer ({type(error).__name__})") from None
