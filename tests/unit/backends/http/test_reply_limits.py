"""What replies may take of the event loop and of memory, beside the size of each."""

import asyncio
import gzip
import socket
import threading
from itertools import pairwise
from traceback import walk_tb

import pytest

from gateway.backends.http import pool, replies
from gateway.backends.http.connection import UpstreamSocket
from gateway.backends.http.replies import (
    ENDS_AT_ONCE,
    ConnectionBroken,
    ReplyLimits,
    decompressed,
)
from gateway.bounds.shares import ReplyBudget
from gateway.errors import InvalidReply
from tests.unit.backends.http.scripted import CAP, CHUNKED, OK, get, serving, until


def chunks(number, size):
    return CHUNKED + b"%x\r\n%b\r\n" % (size, b"x" * size) * number + b"0\r\n\r\n"


async def test_a_reply_in_too_many_small_pieces_is_rejected():
    """Each piece takes as much of the event loop as a hundred bytes do.

    A chunk that is read in two parts is two pieces.
    """
    async with serving((chunks(5000, 15),), (chunks(5000, 17),), (chunks(4000, 1),)) as (_, pool):
        with pytest.raises(InvalidReply, match="too many small pieces"):
            await get(pool)
        assert len((await get(pool)).body) == 85_000
        assert len((await get(pool)).body) == 4000


async def test_replies_that_arrive_together_share_a_limited_memory():
    half = CHUNKED + b"%x\r\n%b\r\n" % (90_000, b"x" * 90_000)
    budget = ReplyBudget(200_000, 150_000, 200_000)
    limits = ReplyLimits(max_bytes=CAP, budget=budget, upstream="shop")
    end = b"0\r\n\r\n"
    async with serving((half, None, end), (half,), replies=limits) as (upstream, pool):
        first = asyncio.create_task(get(pool))
        await until(lambda: budget.taken > 64 * 1024)
        with pytest.raises(ConnectionBroken, match="too many large answers"):
            await get(pool)
        assert budget.take("other", "", 90_000)
        budget.give("other", "", 90_000)
        upstream.released.set()
        assert len((await first).body) == 90_000
    assert budget.taken == 0


async def test_one_caller_has_a_part_of_the_memory_for_replies():
    half = CHUNKED + b"%x\r\n%b\r\n" % (90_000, b"x" * 90_000)
    budget = ReplyBudget(400_000, 400_000, 150_000)
    limits = ReplyLimits(max_bytes=CAP, budget=budget, upstream="shop")
    whole = half + b"0\r\n\r\n"
    async with serving((half, None, b"0\r\n\r\n"), (half,), (whole,), replies=limits) as (
        upstream,
        pool,
    ):
        first = asyncio.create_task(get(pool, caller="greedy"))
        await until(lambda: budget.taken > 64 * 1024)
        with pytest.raises(ConnectionBroken, match="too many large answers"):
            await get(pool, caller="greedy")
        assert len((await get(pool, caller="other")).body) == 90_000
        upstream.released.set()
        assert len((await first).body) == 90_000
    assert budget.taken == 0


def packed(*members):
    body = b"".join(map(gzip.compress, members))
    fields = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    return b"HTTP/1.1 200 OK\r\n" + fields + body


@pytest.mark.parametrize(
    ("members", "is_beside"),
    [((b"x" * 70_000,), True), ((b"x" * 70_000, b"y"), True), ((b"x" * 60_000,), False)],
    ids=["large", "several", "small"],
)
async def test_a_large_body_is_unpacked_beside_the_event_loop(monkeypatch, members, is_beside):
    threads = []

    def noting(body, max_bytes):
        threads.append(threading.current_thread())
        return decompressed(body, max_bytes)

    monkeypatch.setattr(replies, "decompressed", noting)
    async with serving((packed(*members),), (OK,)) as (_, pool):
        assert (await get(pool)).body == b"".join(members)
        assert (await get(pool)).body == b"ok"
    assert [each is not threading.main_thread() for each in threads] == [is_beside]


_READING = (UpstreamSocket.feed.__code__, UpstreamSocket.on_body.__code__)


async def test_an_error_keeps_nothing_of_the_reply():
    """Errors outlive their call: in tracebacks, until the garbage is collected."""
    bomb = packed(b"x" * (CAP + 1))
    async with serving((chunks(2, CAP),), (chunks(5000, 15),), (bomb,), (OK,)) as (_, pool):
        for _ in range(3):
            with pytest.raises(InvalidReply) as caught:
                await get(pool)
            frames = [frame for frame, _ in walk_tb(caught.value.__traceback__)]
            kept = [each.f_locals.get("self") for each in frames]
            sockets = [each for each in kept if isinstance(each, UpstreamSocket)]
            assert sockets
            assert not any(each._body for each in sockets)
            assert not any(frame.f_code is decompressed.__code__ for frame in frames)
            assert not any(frame.f_code in _READING for frame in frames)
        assert (await get(pool)).body == b"ok"


def extended(number, size):
    """Chunks of one byte, each with an extension (RFC 9112 §7.1.1)."""
    return CHUNKED + (b"1;%b\r\nx\r\n" % (b"e" * size)) * number + b"0\r\n\r\n"


async def test_a_reply_that_is_mostly_framing_is_rejected():
    """What is around the body takes as much of the event loop as the body does."""
    async with serving((extended(100, 60_000),), (extended(4000, 240),)) as (_, pool):
        with pytest.raises(InvalidReply, match="mostly framing"):
            await get(pool)
        assert len((await get(pool)).body) == 4000


class Parts(UpstreamSocket):
    """A connection that counts the parts of heads."""

    parts = 0

    def on_header(self, name, value):
        type(self).parts += 1
        super().on_header(name, value)

    def on_message_begin(self):
        type(self).parts += 1
        super().on_message_begin()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 40_000,
        b"HTTP/1.1 102 Processing\r\n\r\n" * 8000,
        CHUNKED + b"0\r\n" + b"X: a\r\n" * 40_000,
    ],
    ids=["fields", "interim heads", "trailers"],
)
async def test_a_head_has_a_limited_number_of_parts(head, monkeypatch):
    """All of them may arrive in one read, and each takes as long as a hundred bytes do."""
    monkeypatch.setattr(pool, "UpstreamSocket", Parts)
    monkeypatch.setattr(Parts, "parts", 0)
    async with serving((head,)) as (_, connections):
        with pytest.raises(InvalidReply, match="head of the upstream's answer is too large"):
            await get(connections)
    assert Parts.parts <= 1025


async def test_a_head_with_many_fields_is_read():
    fields = b"".join(b"X-%d: a\r\n" % number for number in range(300))
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 50
    reply = interim + OK.replace(b"Content-Length", fields + b"Content-Length")
    async with serving((reply,)) as (_, connections):
        assert (await get(connections)).body == b"ok"


class Line(asyncio.Transport):
    """A transport that only knows whether its connection reads."""

    def __init__(self):
        self.is_reading_now = True
        self._socket = socket.socket()

    def get_extra_info(self, name, default=None):
        return self._socket

    def write(self, data):
        pass

    def pause_reading(self):
        self.is_reading_now = False

    def resume_reading(self):
        self.is_reading_now = True

    def is_closing(self):
        return False

    def get_write_buffer_size(self):
        return 0

    def abort(self):
        self._socket.close()

    @property
    def is_closed(self):
        return self._socket.fileno() < 0


def begun(limits, caller):
    """A connection whose reply begins, its line, and the task that waits for the reply."""
    connection, line = UpstreamSocket(limits, set()), Line()
    connection.connection_made(line)
    asked = asyncio.create_task(connection.exchange(b"GET", is_head=False, caller=caller))
    return connection, line, asked


async def test_large_replies_are_read_in_turns_of_their_callers():
    """One reply without an end would keep the event loop busy, and so would many."""
    limits = ReplyLimits(max_bytes=1_000_000)
    callers = ("much", "much", "much", "little")
    connections, lines, asked = zip(*(begun(limits, each) for each in callers), strict=True)
    await asyncio.sleep(0)
    for connection, line in zip(connections, lines, strict=True):
        connection.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n")
        assert line.is_reading_now, "a reply that is small so far waits for no turn"
        connection.feed(b"a" * 65_536)
        assert not line.is_reading_now
    seen = []
    for _ in range(4):
        await asyncio.sleep(0)
        seen.append([number for number, line in enumerate(lines) if line.is_reading_now])
    assert seen == [[0], [0, 3], [0, 1, 3], [0, 1, 2, 3]]
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)


async def test_calls_whose_replies_come_at_once_go_on_a_few_at_a_time_in_turns():
    """What follows a reply takes a while. After so many at once, all others would wait for it."""
    limits = ReplyLimits()
    callers = ["much"] * 60 + ["little"]
    connections, lines, asked = zip(*(begun(limits, each) for each in callers), strict=True)
    await asyncio.sleep(0)
    for connection in connections:
        connection.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    ended, before_little = [0], []
    while ended[-1] < len(asked):
        await asyncio.sleep(0)
        ended.append(sum(task.done() for task in asked))
        if not asked[-1].done():
            before_little.append(ended[-1])
    assert max(after - before for before, after in pairwise(ended)) <= ENDS_AT_ONCE
    assert before_little[-1] < 2 * ENDS_AT_ONCE, "it waits for no more than one turn of the other"
    assert {task.result().body for task in asked} == {b"{}"}
    for line in lines:
        line.abort()


async def test_a_call_that_is_cancelled_while_it_waits_to_go_on_leaves_no_connection():
    limits = ReplyLimits()
    connections, lines, asked = zip(*(begun(limits, "one") for _ in range(10)), strict=True)
    await asyncio.sleep(0)
    for connection in connections:
        connection.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    await asyncio.sleep(0)
    asked[-1].cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert asked[-1].cancelled()
    assert [each.is_reusable for each in connections] == [True] * 9 + [False]
    assert [each.is_closed for each in lines] == [False] * 9 + [True]
    for line in lines:
        line.abort()
