"""What is kept of results, in this process and in bytes for others, and of failures."""

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from hmac import compare_digest
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from gateway.calls.call import BackendName
from gateway.clock import Clock
from gateway.contract.values.files import FileContent
from gateway.errors import GatewayError, UpstreamError

# The error of a write that other processes could not be notified of.


class NotAnnounced(GatewayError):
    """Processes that keep results could not be notified of the write, so it was not made."""

    stage = "send"
    is_retryable = True
    retry_after_seconds = 5.0


_SEAL_BYTES: Final = 16
_decode: Final = msgspec.json.Decoder().decode


MAX_TOLD: Final = 256
"""Callers for whom a result remembers when they first got it."""


class KeptResult(Struct, frozen=True):
    """What is kept of a result: its text. The decoded values would take ten times the memory."""

    text: bytes
    backend: BackendName
    hidden_characters: int
    made_at: float
    """Seconds of the monotonic clock."""
    file: FileContent | None = None
    left_out: tuple[str, ...] = ()
    """See `Result.left_out`."""
    told: dict[str, float] = field(default_factory=dict)
    """When each caller has first got it, on the same clock, by subject. At most `MAX_TOLD`."""

    def first_told(self, subject: str, now: float) -> float | None:
        """When this caller has first got it. None: it is new to them, from `now` on."""
        first = self.told.get(subject)
        if first is None and len(self.told) < MAX_TOLD:
            self.told[subject] = now
        return first

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text) + (0 if self.file is None else len(self.file.data))


class SealedResult(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The same for other processes."""

    made_at: int
    """Microseconds of the board's clock."""
    backend: BackendName
    hidden_characters: int
    text: bytes


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(SealedResult).decode


class Sealing:
    """Writes results as bytes, and reads only what a gateway with the same secret has written."""

    def __init__(self, secret: bytes) -> None:
        """`secret`: equal where results may be exchanged. Longer ones than 64 bytes are refused."""
        self._secret = secret

    def name_of(self, key: bytes) -> str:
        """A name for `key` that nobody can guess from the arguments in it."""
        return blake2b(key, key=self._secret, digest_size=20).hexdigest()

    def seal(self, state: bytes, name: str, shared: SealedResult) -> bytes:
        """The bytes of a result that is kept under `name` for this state of its connector."""
        body = _pack(shared)
        return state + self._seal(state, name, body) + body

    def open(self, state: bytes, name: str, value: bytes) -> SealedResult | None:
        """The result in `value`. None if it is of another state or name, or not authentic."""
        start = len(state) + _SEAL_BYTES
        seal, body = value[len(state) : start], value[start:]
        if not compare_digest(seal, self._seal(state, name, body)):
            return None
        try:
            shared = _unpack(body)
            is_object = isinstance(_decode(shared.text), dict)
        except (msgspec.MsgspecError, ValueError):
            return None
        return shared if is_object else None

    def _seal(self, state: bytes, name: str, body: bytes) -> bytes:
        sealed = b"%b %d %b%b" % (name.encode(), len(state), state, body)
        return blake2b(sealed, key=self._secret, digest_size=_SEAL_BYTES).digest()


# Keeps values in this process, by key and for a limited time.

MAX_BYTES: Final = 16 * 2**20
"""The size of one cache, keys included. When it is full, the least recently used entry goes."""
ENTRY_BYTES: Final = 400
"""What an entry takes besides its key and its value. So many small entries count too."""

T = TypeVar("T")
encode_key: Final = msgspec.json.Encoder(order="deterministic").encode


class _Kept(Struct, Generic[T], frozen=True):
    value: T
    until: float
    stale_until: float
    size: int
    group: str


class KeptAnswers(Generic[T]):
    """Values by key, each kept for a limited time.

    A caller that asks for a value while another caller makes it waits for that value. If making it
    fails, all of them get the failure. Failures are not kept.
    """

    def __init__(
        self,
        clock: Clock,
        size_of: Callable[[T], int],
        max_bytes: int = MAX_BYTES,
        made_at: Callable[[T], float] | None = None,
    ) -> None:
        """`made_at`: when a value was made, on the monotonic clock. None: when it is kept."""
        self._clock = clock
        self._size_of = size_of
        self._made_at = made_at
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, _Kept[T]] = OrderedDict()
        self._groups: dict[str, set[bytes]] = {}
        """The keys of each group."""
        self.hits = 0
        """Callers who got a kept value, or one that another caller made."""
        self.misses = 0
        self.stale_uses = 0
        """Callers who got a value whose time was up."""
        self._under_way: dict[bytes, asyncio.Future[T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """What all values and their keys take."""
        return self._bytes

    async def get(
        self,
        key: bytes,
        seconds: float,
        make: Callable[[], Awaitable[T]],
        *,
        is_shared: bool = True,
        stale_seconds: float = 0.0,
        group: str = "",
    ) -> T:
        """The value kept under `key`. If there is none, call `make` and keep its value `seconds`.

        If `is_shared` is false, no other caller waits for this `make`, and this caller does not
        wait for another's. For `stale_seconds` after its time, only `stale` returns the value.
        `drop_group` drops it with its `group`.
        """
        while True:
            kept = self._find(key)
            if kept is not None:
                self.hits += 1
                return kept.value
            if not is_shared:
                self.misses += 1
                value = await make()
                self.keep(key, seconds, stale_seconds, value, group)
                return value
            first = self._under_way.get(key)
            if first is None:
                value = await self._make(key, make)
                self.keep(key, seconds, stale_seconds, value, group)
                return value
            await asyncio.wait([first])
            if first.cancelled():
                continue
            if (failure := first.exception()) is not None:
                # Each waiting caller gets a copy: a raise adds to the traceback of its exception.
                raise copy.copy(failure)
            self.hits += 1
            return first.result()

    async def _make(self, key: bytes, make: Callable[[], Awaitable[T]]) -> T:
        self.misses += 1
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            value = await make()
        except Exception as error:
            first.set_exception(error)
            first.exception()  # without a waiting caller, asyncio would log it as never retrieved
            raise
        else:
            first.set_result(value)
            return value
        finally:
            del self._under_way[key]
            first.cancel()
            # The future has the exception, whose traceback has this frame: a cycle for the garbage
            # collector, which stops all calls while it looks for them.
            del first

    def stale(self, key: bytes) -> T | None:
        """The value under `key` whose time is up, while its `stale_seconds` last."""
        kept = self._kept.get(key)
        if kept is None or kept.stale_until <= self._clock.monotonic():
            return None
        self.stale_uses += 1
        self._kept.move_to_end(key)
        return kept.value

    def has(self, key: bytes) -> bool:
        """Whether `get` would return a kept value."""
        return self._find(key) is not None

    def _find(self, key: bytes) -> _Kept[T] | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        now = self._clock.monotonic()
        if kept.until <= now:
            if kept.stale_until <= now:
                self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept

    def drop_group(self, group: str) -> None:
        """Drop the values of a group, whose keys nobody asks for any more."""
        for key in self._groups.pop(group, ()):
            self._bytes -= self._kept.pop(key).size

    def keep(
        self, key: bytes, seconds: float, stale_seconds: float, value: T, group: str = ""
    ) -> None:
        """Keep a value in place of another one. It lasts this long after it was made."""
        if key in self._kept:
            self._drop(key)
        size = len(key) + self._size_of(value) + ENTRY_BYTES
        if size > self._max_bytes or not seconds:
            return
        while self._bytes + size > self._max_bytes:
            self._drop(next(iter(self._kept)))
        made_at = self._clock.monotonic() if self._made_at is None else self._made_at(value)
        until = made_at + seconds
        self._kept[key] = _Kept(value, until, until + stale_seconds, size, group)
        self._groups.setdefault(group, set()).add(key)
        self._bytes += size

    def _drop(self, key: bytes) -> None:
        kept = self._kept.pop(key)
        self._bytes -= kept.size
        keys = self._groups[kept.group]
        keys.discard(key)
        if not keys:
            del self._groups[kept.group]


# Remembers failures of upstreams for a short time, where the contract says so.

MAX_FAILURES: Final = 1000
"""The largest number of remembered failures. The oldest is forgotten first."""


class _Failure(Struct, frozen=True):
    error: UpstreamError
    until: float
    """Seconds of the monotonic clock."""


class Failures:
    """Recent failures, by request.

    Calls get a remembered failure at once and do not wait for the upstream to fail again. They may
    have something to use in place of the reply. When the time is up, one call tries the upstream.
    Meanwhile the other calls get the remembered failure, for the same time at most.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, _Failure] = OrderedDict()

    def check(self, key: bytes, seconds: float) -> None:
        """Raise the `UpstreamError` that is remembered for `key`, unless its time is up.

        When its time is up, this call may try the upstream, and other calls get it for `seconds`
        more.
        """
        known = self._known.get(key)
        if known is None:
            return
        if self._clock.monotonic() < known.until:
            raise copy.copy(known.error)
        self.remember(key, seconds, known.error)

    def remember(self, key: bytes, seconds: float, error: UpstreamError) -> None:
        """Let `check` raise `error` for this many seconds."""
        # A copy has neither traceback nor causes: those hold the frames of the call that failed.
        until = self._clock.monotonic() + seconds
        self._known[key] = _Failure(copy.copy(error), until)
        self._known.move_to_end(key)
        if len(self._known) > MAX_FAILURES:
            self._known.popitem(last=False)

    def forget(self, key: bytes) -> None:
        """Remove the failure of `key`, because the request has succeeded."""
        self._known.pop(key, None)
