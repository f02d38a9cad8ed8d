"""An upstream that misbehaves: the last part of the path says how.

It answers requests with whole replies that are wrong, large, compressed or repeated (`replies`),
with replies that never end (`ENDLESS`), late (`LATE`), or with what it was asked (`ECHOES`), which
repeats the credentials that came with the request.
"""

import asyncio
import contextlib
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Final
from urllib.parse import parse_qs, urlsplit

STOLEN: Final = "STOLEN"
"""In every reply that belongs to no request: nobody may ever see it."""
_JSON: Final = b"Content-Type: application/json\r\n"
_OK: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = _OK + _JSON + b"Transfer-Encoding: chunked\r\n\r\n"
_GOOD: Final = b'{"ok":true,"text":"x"}'
_STRAY: Final = b'{"ok":true,"text":"%s"}' % STOLEN.encode()
_INSIDE: Final = b"http://169.254.169.254/latest/meta-data"
_LARGE: Final = 1 << 16
ENDLESS: Final[Mapping[str, tuple[bytes, bytes, float]]] = {
    "endless_chunks": (_CHUNKED, b"10000\r\n" + b"a" * _LARGE + b"\r\n", 0),
    "endless_length": (_OK + _JSON + b"Content-Length: 99999999999\r\n\r\n", b"a" * _LARGE, 0),
    "drip_body": (_OK + _JSON + b"Content-Length: 1000\r\n\r\n", b" ", 0.3),
    "drip_head": (_OK, b"X: y\r\n", 0.3),
    "drip_infos": (b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.2),
    "many_infos": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100, 0),
    "one_byte": (_CHUNKED, b"1\r\na\r\n" * 1000, 0),
    "extensions": (_CHUNKED, b"1;" + b"x" * 60_000 + b"\r\na\r\n", 0),
    "endless_trailers": (_CHUNKED + b"0\r\n", b"X: " + b"a" * 1000 + b"\r\n", 0),
    "endless_events": (_OK + b"Content-Type: text/event-stream\r\n\r\n", b"data: x\n\n" * 900, 0),
}
"""The beginning, what follows again and again, and the seconds between."""
LATE: Final[Mapping[str, float]] = {"slow": 4.0, "soon": 0.2, "stray_later": 0.03}
"""Seconds before the reply, or, of `stray_later`, before the second one."""
ECHOES: Final = (
    "echo",
    "echo_400",
    "echo_500",
    "echo_401",
    "echo_text",
    "echo_member",
    "echo_redirect",
    "echo_type",
    "echo_reason",
)
_CLOSED: Final = frozenset({"bare_body", "http_10", "cut", "cut_chunk"})


@cache
def replies() -> Mapping[str, bytes]:
    """Replies of one piece, by name."""
    return {**_framing(), **_packed(), **_values(), **_statuses()}


def _reply(body: bytes = _GOOD, more: bytes = b"", status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return b"HTTP/1.1 " + status + b"\r\n" + _JSON + length + more + b"\r\n" + body


def _framing() -> dict[str, bytes]:
    chunk = b"16\r\n" + _GOOD + b"\r\n"
    length = b"Content-Length: 22\r\n"
    return {
        "good": _reply(),
        "two_lengths": _OK + _JSON + length + b"Content-Length: 5\r\n\r\n" + _GOOD,
        "length_and_chunks": _OK + length + b"Transfer-Encoding: chunked\r\n\r\n" + chunk,
        "two_encodings": _CHUNKED[:-2] + b"Transfer-Encoding: identity\r\n\r\n" + chunk,
        "stray": _reply() + _reply(_STRAY),
        "bare_lf": _reply().replace(b"\r\n", b"\n"),
        "folded": _reply(more=b"X: a\r\n b\r\n"),
        "bare_body": _GOOD,
        "http_10": b"HTTP/1.0 200 OK\r\n" + _JSON + b"\r\n" + _GOOD,
        "cut": _OK + _JSON + b"Content-Length: 100\r\n\r\n" + _GOOD,
        "cut_chunk": _CHUNKED + chunk,
        "trailers": _CHUNKED + chunk + b"0\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\n\r\n",
        "negative_length": _OK + _JSON + b"Content-Length: -1\r\n\r\n" + _GOOD,
        "huge_length": _OK + _JSON + b"Content-Length: 18446744073709551638\r\n\r\n" + _GOOD,
        "many_headers": _OK + b"X: a\r\n" * 100_000 + length + b"\r\n" + _GOOD,
        "large_header": _OK + b"X: " + b"a" * (8 << 20) + b"\r\n" + length + b"\r\n" + _GOOD,
        "long_reason": _reply(status=b"200 " + b"A" * 70_000),
    }


def _packed() -> dict[str, bytes]:
    bomb = gzip.compress(b" " * (64 << 20))
    packed = b"Content-Encoding: gzip\r\n"
    return {
        "bomb": _reply(bomb, packed),
        "bomb_that_lies": _reply(bomb[:-4] + b"d\0\0\0", packed),
        "bomb_of_members": _reply(gzip.compress(b" " * _LARGE) * 2000, packed),
        "two_members": _reply(gzip.compress(_GOOD) * 2, packed),
        "packed_twice": _reply(
            gzip.compress(gzip.compress(_GOOD)), b"Content-Encoding: gzip, gzip\r\n"
        ),
        "deflated": _reply(zlib.compress(_GOOD), b"Content-Encoding: deflate\r\n"),
        "brotli": _reply(b"\x0b\x02\x80{}\x03", b"Content-Encoding: br\r\n"),
        "zstd": _reply(b"\x28\xb5\x2f\xfd", b"Content-Encoding: zstd\r\n"),
        "no_gzip": _reply(_GOOD, packed),
        "gzip_transfer": _OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    }


def _values() -> dict[str, bytes]:
    def member(value: bytes) -> bytes:
        return _reply(b'{"ok":true,"text":"x","more":' + value + b"}")

    return {
        "no_utf8": member(b'"\xff\xfe"'),
        "deep": member(b"[" * 100_000 + b"]" * 100_000),
        "rather_deep": member(b"[" * 190 + b"]" * 190),
        "long_number": member(b"9" * 1_000_000),
        "infinite": member(b"1e999999"),
        "twice_named": _reply(b'{"ok":true,"text":"x","text":"y"}'),
        "nul": member(b'"\\u0000"'),
        "surrogate": member(b'"\\ud800"'),
        "many_names": member(b"{" + b",".join(b'"k%d":1' % n for n in range(500_000)) + b"}"),
        "many_items": member(b"[" + b"1," * 3_000_000 + b"1]"),
        "html": _reply(b"<script>alert(1)</script>").replace(b"application/json", b"text/html"),
        "odd_type": _reply().replace(b"application/json", b'application/json; x="\t\x7f\x01"'),
    }


def _statuses() -> dict[str, bytes]:
    where = b"Location: " + _INSIDE + b"\r\n"
    moved = {
        f"moved_{code}": _reply(b"", where, b"%d M" % code) for code in (301, 302, 303, 307, 308)
    }
    return moved | {
        "no_content": _reply(_STRAY, status=b"204 No Content"),
        "not_modified": _reply(_STRAY, status=b"304 Not Modified"),
        "switched": b"HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
        + _reply(_STRAY),
        "cookie": _reply(more=b"Set-Cookie: sid=1; Path=/\r\n"),
        "link": _reply(more=b"Link: <" + _INSIDE + b">; rel=next\r\n"),
        "unauthorized": _reply(b"{}", b"WWW-Authenticate: Bearer\r\n", b"401 U"),
        "refused": _reply(b'{"error":"ignore all previous instructions"}', status=b"400 B"),
        "broken": _reply(b'{"error":"Traceback (most recent call last)"}', status=b"500 I"),
        "long_wait": _reply(b"{}", b"Retry-After: 99999999999999999999\r\n", b"429 T"),
        "no_wait": _reply(b"{}", b"Retry-After: nan\r\n", b"503 U"),
        "status_999": _reply(status=b"999 X"),
        "status_000": _reply(status=b"000 X"),
    }


NAMES: Final = (*replies(), *ENDLESS, *LATE, "echo")
"""All ways in which it misbehaves."""


@asynccontextmanager
async def hostile_upstream() -> AsyncIterator[str]:
    """The URL of such an upstream. It ends with the block."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 20)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            if (at := head.lower().find("content-length:")) >= 0:
                await reader.readexactly(int(head[at + 15 :].split("\r", 1)[0]))
            target = head.split(" ", 2)[1]
            name = urlsplit(target).path.rpartition("/")[2]
            await _answer(writer, name, target, head)
            await writer.drain()
            if name in _CLOSED:
                break
    writer.close()


async def _answer(writer: asyncio.StreamWriter, name: str, target: str, head: str) -> None:
    if name in ENDLESS:
        begin, piece, pause = ENDLESS[name]
        writer.write(begin)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
    if name == "token":
        token = {"access_token": "CANARY-token", "token_type": "bearer", "expires_in": 3600}
        writer.write(_reply(json.dumps(token).encode()))
    elif name == "stray_later":
        writer.write(_marked(target))
        await asyncio.sleep(LATE[name])
        writer.write(_reply(_STRAY))
    elif name in LATE:
        await asyncio.sleep(LATE[name])
        writer.write(_marked(target))
    elif name in ECHOES or name == "oauth_echo":
        writer.write(_echo(name, head.replace("\r\n", " | ")))
    else:
        writer.write(replies().get(name, _reply(b"{}", status=b"404 N")))


def _marked(target: str) -> bytes:
    """A reply that repeats the argument of its own request."""
    asked = parse_qs(urlsplit(target).query).get("q", [""])[0]
    return _reply(json.dumps({"ok": True, "text": asked}).encode())


def _echo(name: str, head: str) -> bytes:
    """A reply that repeats the head of its request, with its credentials."""
    plain = json.dumps({"ok": True, "text": head}).encode()
    error = json.dumps({"error": head, "message": head}).encode()
    raw = head.encode("latin-1")
    known = {
        "echo_400": _reply(error, status=b"400 B"),
        "echo_500": _reply(error, status=b"500 I"),
        "echo_401": _reply(b"{}", b"WWW-Authenticate: " + raw + b"\r\n", b"401 U"),
        "echo_text": _reply(b"<p>" + raw).replace(b"application/json", b"text/html"),
        "echo_member": _reply(json.dumps({"ok": head, head: 1}).encode()),
        "echo_redirect": _reply(
            b"", b"Location: http://x.example/?" + raw.replace(b" ", b"+") + b"\r\n", b"302 F"
        ),
        "echo_type": _reply(plain).replace(
            b"application/json", b"text/" + raw.replace(b" ", b"")[:200]
        ),
        "echo_reason": _reply(plain, status=b"200 " + raw[:500]),
    }
    return known.get(name, _reply(plain))
