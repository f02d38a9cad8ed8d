"""Replies that are sequences: server-sent events, JSON Lines and JSON text sequences."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.upstream import Reply
from gateway.encoding.replies.content import essence_of
from gateway.errors import InvalidReply

_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8."""
_MAX_DIGITS: Final = 15
_SEPARATOR: Final = b"\x1e"
_COMPLETE: Final = (b"\n", b"\r", b"\t", b" ", b"}", b"]", b'"')
"""How a JSON text ends that is not cut. A number without a blank behind it may be."""


def event_texts(reply: Reply) -> Iterator[bytes]:
    """The JSON text of each event or line. Raises `InvalidReply`."""
    match essence_of(reply):
        case "text/event-stream":
            yield from _data_texts(reply.body)
        case "application/json-seq":
            yield from _records(reply.body)
        case _:
            yield from (line for line in reply.body.split(b"\n") if line.strip())


def server_sent_events(body: bytes) -> Iterator[dict[str, Any]]:
    """The server-sent events with their fields (WHATWG HTML §9.2.6, OpenAPI 3.2 §4.14.3).

    `retry` is a number, and other fields are text. Comments and other fields are left out, and so
    is an event without data, or one that no empty line ends: the stream may have been cut inside
    it.
    """
    text = body.removeprefix(_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    event: dict[str, Any] = {}
    for line in text.split(b"\n")[:-1]:
        name, _, raw = line.partition(b":")
        value = raw.removeprefix(b" ").decode("utf-8", "replace")
        if not line:
            if "data" in event:
                yield event
            event = {}
        elif name == b"data":
            event["data"] = f"{event['data']}\n{value}" if "data" in event else value
        elif name in {b"event", b"id"}:
            event[name.decode()] = value
        elif name == b"retry" and value.isascii() and value.isdigit():
            event["retry"] = int(value[:_MAX_DIGITS])


def _data_texts(body: bytes) -> Iterator[bytes]:
    """The JSON texts in the data of events, without those that only keep a connection open."""
    for event in server_sent_events(body):
        data = event["data"]
        if data.strip() and data != "[DONE]":
            yield data.encode()


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
