"""What processes share through Redis: limits, results of reads, and which upstreams fail.

The package `redis` is optional. This module is imported when a gateway has a Redis.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
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
from gateway.store.protocols import BreakerChange, ResultReading
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

_SECOND: Final = 1_000_000


class _Connections:
    """Connections to one Redis, which are made when they are used. They wait only a short time."""

    def __init__(
        self, url: str, most: int, timeout_seconds: float, *, is_text: bool = False
    ) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=most,
            timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            # A command that is sent again after a timeout could count a call twice.
            retry=Retry(NoBackoff(), 0),
            decode_responses=is_text,
        )
        self._client = Redis(connection_pool=pool)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
        await self._client.connection_pool.disconnect()


@asynccontextmanager
async def _failures() -> AsyncIterator[None]:
    """Turn errors of Redis into `StoreError`. Their texts may contain the URL."""
    try:
        yield
    except (RedisError, OSError, RuntimeError) as error:
        # uvloop raises RuntimeError for a connection that has just been closed.
        raise StoreError(f"Redis did not answer ({type(error).__name__})") from None


LIMITS_PREFIX: Final = "contract-gateway:limits:"
_LIMITS_CONNECTIONS: Final = 32
_LIMITS_TIMEOUT_SECONDS: Final = 2.0
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


class RedisUsage(_Connections):
    """A `UsageStore` in Redis."""

    def __init__(self, url: str, home: Callable[[], Awaitable[str]]) -> None:
        """It connects when it is used. `home` gives the name of the store whose calls it counts.

        Gateways with other stores have agents of the same names, and other limits.
        """
        self._home = home
        super().__init__(url, _LIMITS_CONNECTIONS, _LIMITS_TIMEOUT_SECONDS, is_text=True)
        self._take = self._client.register_script(_SCRIPT)
        self._restore = self._client.register_script(_RESTORE)
        self._releasing: set[asyncio.Task[None]] = set()

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        keys = await self._keys(each.counter for each in demands)
        arguments: list[str | int] = [holder]
        for each in demands:
            length, step = round(each.seconds * _SECOND), round(each.step_seconds * _SECOND)
            arguments += [each.kind, each.max, length, step, each.units, each.ahead]
        try:
            async with _failures():
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
        await self.restore([Return(counter, holder) for counter in counters])

    async def restore(self, returns: Sequence[Return]) -> None:
        keys = await self._keys(each.counter for each in returns)
        arguments = [part for each in returns for part in (each.entry, each.units)]
        async with _failures():
            await self._restore(keys=keys, args=arguments)

    async def readings(self, limit: int) -> list[CounterReading]:
        (prefix,) = await self._keys([""])
        async with _failures():
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
        await super().close()

    async def _keys(self, counters: Iterable[str]) -> list[str]:
        """Raises `StoreError` if the name of the store cannot be read yet."""
        prefix = f"{LIMITS_PREFIX}{await self._home()}:"
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


def _entries(fields: Sequence[str]) -> Entries:
    """The entries that the script returned: name and value by turns."""
    held: Entries = {}
    for name, value in zip(fields[::2], fields[1::2], strict=True):
        until, _, units = value.partition(" ")
        held[name] = int(until), int(units)
    return held


BREAKERS_PREFIX: Final = "contract-gateway:breakers:"
_BREAKERS_CONNECTIONS: Final = 8
_BREAKERS_TIMEOUT_SECONDS: Final = 1.0
"""A request that may try an upstream waits this long for Redis at most."""
_SILENCE_SECONDS: Final = 5.0
"""The connection is tried after this time without a message, and lost after the same time again."""
_KEPT_SECONDS: Final = 60.0
"""How long a key outlasts its wait. No process has tried the upstream for this time then."""
_END_TRIAL: Final = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class _Message(msgspec.Struct, frozen=True):
    sender: str
    upstream: str
    wait_seconds: float


class RedisBreakers(_Connections):
    """A `BreakerBoard` in Redis."""

    def __init__(self, url: str) -> None:
        """It connects when it is used."""
        self._channel = f"{BREAKERS_PREFIX}changes"
        self._sender = uuid4().hex
        super().__init__(url, _BREAKERS_CONNECTIONS, _BREAKERS_TIMEOUT_SECONDS)
        self._end = self._client.register_script(_END_TRIAL)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[AsyncIterator[BreakerChange]]:
        async with self._client.pubsub() as subscription:
            async with _failures():
                await subscription.subscribe(self._channel)
            yield self._changes(subscription)

    async def known(self, upstream: str) -> BreakerChange | None:
        key = BREAKERS_PREFIX + upstream
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
        key = BREAKERS_PREFIX + change.upstream
        message = _Message(self._sender, change.upstream, change.wait_seconds)
        async with _failures(), self._client.pipeline() as pipe:
            if change.wait_seconds:
                kept = round((change.left_seconds + _KEPT_SECONDS) * 1000)
                pipe.set(key, change.wait_seconds, px=kept)
            else:
                pipe.delete(key)
            await pipe.publish(self._channel, msgspec.json.encode(message)).execute()

    async def claim_trial(self, upstream: str, seconds: float) -> str | None:
        lease = uuid4().hex
        async with _failures():
            key, milliseconds = self._trial(upstream), round(seconds * 1000)
            is_ours = await self._client.set(key, lease, nx=True, px=milliseconds)
        return lease if is_ours else None

    async def end_trial(self, upstream: str, lease: str) -> None:
        async with _failures():
            await self._end(keys=[self._trial(upstream)], args=[lease])

    def _trial(self, upstream: str) -> str:
        return f"{BREAKERS_PREFIX}{upstream}:trial"

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


RESULTS_PREFIX: Final = "contract-gateway:results:"
MAX_VALUES: Final = 2000
"""How many results of one connector are kept. Those that end first go first."""
MAX_VALUE_BYTES: Final = 2**20
"""Larger values are neither kept nor read."""
MAX_BYTES: Final = 32 * 2**20
"""The size of all values of one connector."""
_RESULTS_CONNECTIONS: Final = 32
TIMEOUT_SECONDS: Final = 0.25
"""A call waits this long for one answer of Redis, connecting included."""
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
_BEGIN_WRITE: Final = """
is_settled()
renew()
mark(ARGV[3], tonumber(ARGV[2]))
last(3600000 + math.ceil(ARGV[2] / 1000))
"""
_END_WRITE: Final = """
renew()
redis.call('HDEL', state, 'write:' .. ARGV[3])
if tonumber(ARGV[4]) > 0 then mark(ARGV[3], tonumber(ARGV[4])) end
last(3600000 + math.ceil(ARGV[4] / 1000))
"""


class RedisResults(_Connections):
    """A `ResultBoard` in Redis."""

    def __init__(
        self,
        url: str,
        settling: Mapping[str, float],
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """It connects when it is used.

        `settling`: for how many seconds a write may still happen of which nothing is known, by
        connector. The others have no writes.
        """
        self._settling = settling
        self._timeout_seconds = timeout_seconds
        super().__init__(url, _RESULTS_CONNECTIONS, timeout_seconds)
        texts = _FIND, _KEEP, _BEGIN_WRITE, _END_WRITE
        scripts = [self._client.register_script(_STATE + each) for each in texts]
        self._find, self._keep, self._begin, self._end = scripts

    async def find(self, connector: str, key: str) -> ResultReading:
        found = await self._run(self._find, connector, key, [MAX_VALUE_BYTES])
        try:
            at, state, is_settled, value = found
            return ResultReading(state, is_settled == 1, int(at), value)
        except (TypeError, ValueError):
            raise StoreError("Redis gave an unknown answer") from None

    async def keep(
        self, connector: str, key: str, found: ResultReading, value: bytes, seconds: float
    ) -> None:
        if len(value) <= MAX_VALUE_BYTES:
            more = [found.state, value, round(seconds * 1000), MAX_VALUES, MAX_BYTES]
            await self._run(self._keep, connector, key, more)

    async def begin_write(self, connector: str, write: str) -> None:
        await self._run(self._begin, connector, "", [write])

    async def end_write(self, connector: str, write: str, unsettled_seconds: float) -> None:
        more = [write, round(unsettled_seconds * _SECOND)]
        await self._run(self._end, connector, "", more)

    async def _run(self, script: Any, connector: str, key: str, more: Sequence[object]) -> Any:
        # The braces let a cluster keep all keys of a connector together.
        stem = f"{RESULTS_PREFIX}{{{connector}}}:"
        keys = [f"{stem}state", f"{stem}index", *([f"{stem}{key}"] if key else ())]
        settling = round(self._settling.get(connector, 0.0) * _SECOND)
        arguments = [uuid4().hex, settling, *more]
        async with _failures(), asyncio.timeout(self._timeout_seconds):
            return await script(keys=keys, args=arguments)
