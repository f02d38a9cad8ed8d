"""What the replies of an upstream may be, and how their bodies are decompressed."""

import zlib
from functools import partial
from typing import Final

from msgspec import Struct, field

from gateway.backends.base import ReplyTooLarge
from gateway.bounds.shares import LoopTurns, ReplyBudget
from gateway.errors import InvalidReply
from gateway.threads import in_thread

MAX_REPLY_BYTES: Final = 10 * 1024 * 1024
"""The default maximum size of a reply's body, after decompression."""
TURN_BYTES: Final = 16 * 1024
"""So much of a large reply is read at once. Then others have their turn."""
ENDS_AT_ONCE: Final = 8
"""So many calls go on in a pass of the event loop when their replies have come: what follows takes
a third of a millisecond each."""
_GZIP: Final = 31
"""The window of zlib for gzip (RFC 1952)."""
_MOST_EXPANSION: Final = 1032
"""How many bytes one byte of gzip can become: 258 for each two bits (RFC 1951 §3.2.5)."""
_MEMBER: Final = b"\x1f\x8b\x08"  # the begin of a member (RFC 1952 §2.3.1)
_MOST_MEMBERS: Final = 16  # each copies the rest of the body
_DAMAGED: Final = "The gzip of the upstream's answer is damaged."
_LARGE_BYTES: Final = 64 * 1024  # 0.2 ms, twice what it takes to hand it to a thread


class ConnectionBroken(Exception):
    """The connection broke. The message is the cause."""


class ReplyLimits(Struct, frozen=True, kw_only=True):
    """How large the replies of one upstream may be, and how they are read beside others."""

    max_bytes: int = MAX_REPLY_BYTES
    """Of one body, before and after it is decompressed."""
    excerpt_seconds: float | None = None
    """If given, the status decides. When it has arrived, the body is waited for so long; if it is
    late, broken or larger than `max_bytes`, its beginning is kept. It is not decompressed."""
    budget: ReplyBudget | None = None
    """The memory for bodies that arrive, of all upstreams."""
    upstream: str = ""
    """Its part of the budget has this name."""
    turns: LoopTurns = field(default_factory=LoopTurns)
    """Those of large replies, of all upstreams."""
    ends: LoopTurns = field(default_factory=partial(LoopTurns, ENDS_AT_ONCE))
    """Those of calls whose replies have come, of all upstreams."""
    buffer: bytearray = field(default_factory=lambda: bytearray(TURN_BYTES))
    """What is read is parsed in the same callback, so all connections of an event loop share it.

    uvloop would make an object of 256 KB for each read, which the system maps and unmaps.
    """


def too_large(max_bytes: int) -> ReplyTooLarge:
    """The error for a body of more than `max_bytes`."""
    return ReplyTooLarge(f"The upstream's answer is larger than {max_bytes} bytes.")


async def unpacked(body: bytearray, max_bytes: int) -> bytes:
    """See `decompressed`. A large body is unpacked in a thread, and others go on meanwhile."""
    work = partial(decompressed, bytes(body), max_bytes)
    try:
        if _size(body) < _LARGE_BYTES and not _may_have_more(body):
            return work()
        return await in_thread(work)
    except InvalidReply as error:
        # It may be kept for long, and its frames keep the body.
        del work
        raise error.with_traceback(None) from None


def _size(body: bytes | bytearray) -> int:
    return int.from_bytes(body[-4:], "little")


def _may_have_more(body: bytes | bytearray) -> bool:
    return body.find(_MEMBER, 1) >= 0


def decompressed(body: bytes, max_bytes: int) -> bytes:
    """`body` without gzip. Raises `InvalidReply`.

    The last four bytes are the size of its last member (ISIZE, RFC 1952 §2.2, §2.3.1). So a
    body that is too large is refused before it is decompressed, which takes 40 ms. If it has one
    member, a false size is found one byte after it.
    """
    rest, parts, left = body, [b""], max_bytes
    size = _size(body)
    if size > left:
        is_possible = size <= len(rest) * _MOST_EXPANSION
        raise too_large(max_bytes) if is_possible else InvalidReply(_DAMAGED)
    most = left if _may_have_more(body) else size
    while rest:
        decompressor = zlib.decompressobj(_GZIP)
        try:
            parts.append(decompressor.decompress(rest, most + 1))
        except zlib.error:
            raise InvalidReply(_DAMAGED) from None
        left, most = left - len(parts[-1]), most - len(parts[-1])
        if left < 0:
            raise too_large(max_bytes)
        rest = decompressor.unused_data
        if not decompressor.eof or most < 0 or (rest and len(parts) > _MOST_MEMBERS):
            raise InvalidReply(
                "The gzip of the upstream's answer is damaged, or has too many members."
            )
    return b"".join(parts)
