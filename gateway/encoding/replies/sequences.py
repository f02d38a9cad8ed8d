"""Replies that are sequences: server-sent events, JSON Lines and JSON text sequences."""

from collections.abc import Iterator
from typing import Final

from gateway.contract.upstream import Reply
from gateway.encoding.replies.content import essence_of
from gateway.errors import InvalidReply

_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
_SEPARATOR: Final = b"\x1e"
_COMPLETE: Final = (b"\n", b"\r", b"\t", b" ", b"}", b"]", b'"')
"""How a JSON text ends that is not cut. A number without a blank behind it may be."""


def event_texts(reply: Reply) -> Iterator[bytes]:
    """The JSON text of each event or line. Raises `InvalidReply`."""
    match essence_of(reply):
        case "text/event-stream":
            yield from _events(reply.body)
        case "application/json-seq":
            yield from _records(reply.body)
        case _:
            yield from (line for line in reply.body.split(b"\n") if line.strip())


def _events(body: bytes) -> Iterator[bytes]:
    """The data of server-sent events (WHATWG HTML §9.2.6).

    An event that no empty line ends is left out: the stream may have been cut inside it.
    """
    text = body.removeprefix(_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data: list[bytes] = []
    for line in text.split(b"\n")[:-1]:
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            event, data = b"\n".join(data), []
            if event != b"[DONE]":
                yield event


def _records(body: bytes) -> Iterator[bytes]:
    """The records of a JSON text sequence (RFC 7464). Raises `InvalidReply`."""
    before, *records = body.split(_SEPARATOR)
    if before.strip():
        raise InvalidReply("The upstream's answer does not begin with a record separator.")
    for record in records:
        if not record.strip():
            continue
        if not record.endswith(_COMPLETE):
            raise InvalidReply("The upstream's answer ends inside a record.")
        yield record
