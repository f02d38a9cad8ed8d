"""The stream for one follower: the log as Server-Sent Events (HTML Standard §9.2)."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from gateway.contract.values import jsontext
from gateway.events.feed import Feed, FeedPage, Reset
from gateway.events.filters import LogPosition, TypeFilter
from gateway.events.recent import Published

KEEP_ALIVE_SECONDS: Final = 15.0
"""Shorter than the time after which proxies close a silent connection."""
RETRY_MILLISECONDS: Final = 2000
_CHUNK_BYTES: Final = 64 * 1024


class StreamRequest(Struct, frozen=True, kw_only=True):
    """A follower's request."""

    wanted: TypeFilter = TypeFilter()
    cursor: str | None = None
    """The cursor to resume from. If it is set, `start` is ignored."""
    start: Literal["latest", "earliest"] = "latest"
    """Where to begin without a cursor."""


async def stream_events(
    feed: Feed, request: StreamRequest, keep_alive_seconds: float = KEEP_ALIVE_SECONDS
) -> AsyncGenerator[bytes, None]:
    """The pieces of the stream. It ends when the gateway stops.

    At least one piece comes in `keep_alive_seconds`. For a slow client, only its position is kept.
    Raises `StoreError`, before the first piece or later.
    """
    opening = await _open(feed, request)
    retry = b"retry: %d\n\n" % RETRY_MILLISECONDS
    yield retry + _reset_frame(opening.reset, request.wanted)
    place = sent = opening.place
    loop = asyncio.get_running_loop()
    due = loop.time() + keep_alive_seconds
    while not feed.is_closing:
        changed = feed.changed()
        page = await feed.since(place, request.wanted)
        for piece in _pieces(page, request.wanted):
            yield piece
            sent, due = page.place, loop.time() + keep_alive_seconds
        has_moved = page.place != place
        place = page.place
        if not has_moved:
            await _wait(changed, due)
        if loop.time() >= due:
            yield _keep_alive(place if place != sent else None, request.wanted)
            sent, due = place, loop.time() + keep_alive_seconds
    yield retry


async def _open(feed: Feed, request: StreamRequest) -> FeedPage:
    if request.cursor is not None:
        return await feed.resume(request.cursor, request.wanted)
    place = await (feed.newest() if request.start == "latest" else feed.earliest())
    return FeedPage((), place)


async def _wait(changed: asyncio.Event, due: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await changed.wait()


def _pieces(page: FeedPage, wanted: TypeFilter) -> Iterator[bytes]:
    if page.reset is not None:
        yield _reset_frame(page.reset, wanted)
    yield from _joined(_frame(event, wanted) for event in page.events)


def _joined(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Joins frames into pieces of a limited size."""
    piece: list[bytes] = []
    size = 0
    for frame in frames:
        piece.append(frame)
        size += len(frame)
        if size >= _CHUNK_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)


def _frame(event: Published, wanted: TypeFilter) -> bytes:
    cursor = event.place.cursor(wanted).encode()
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor, event.type.encode(), event.text)


def _reset_frame(reset: Reset | None, wanted: TypeFilter) -> bytes:
    """A frame that reports a gap: the follower's position is unknown or no longer in the log."""
    if reset is None:
        return b""
    text = jsontext.encode({"reason": reset.reason, "oldest": reset.place.position + 1})
    cursor = reset.place.cursor(wanted).encode()
    return b"id: %b\nevent: reset\ndata: %b\n\n" % (cursor, text)


def _keep_alive(place: LogPosition | None, wanted: TypeFilter) -> bytes:
    """A keep-alive frame. It has a cursor if the filter has left out events.

    Without this cursor, a follower of rare events would reconnect with a position whose events were
    removed long ago.
    """
    cursor = b"" if place is None else b"id: %b\n" % place.cursor(wanted).encode()
    return b": keep-alive\n%b\n" % cursor
