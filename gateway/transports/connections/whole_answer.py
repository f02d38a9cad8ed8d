"""Writes a complete answer at once, where uvicorn checks and writes it in two messages."""

import re
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from gateway.transports.http.asgi import Headers, Send
from gateway.transports.http.problems import CLOSE

_UNSAFE: Final = re.compile(rb"[\x00-\x08\n-\x1f\x7f]")
"""Control characters, which may not be in a header field. It may have tabs."""


def write_answer(send: Send, status: int, headers: Headers, body: bytes) -> bool:
    """Write an answer that has all its headers, and end its request.

    Returns False if uvicorn must send it, and then nothing is written: the connection is closing or
    must be closed, the client reads too slowly, the answer has no body, or a header is not valid.
    """
    cycle: Any = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle) or not _is_usual(cycle, status):
        return False
    lines = [b"%b: %b" % field for field in (*cycle.default_headers, *headers)]
    if CLOSE in headers or _UNSAFE.search(b"".join(lines)):
        return False
    head = b"\r\n".join(lines)
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(b"%b%b\r\n\r\n%b" % (STATUS_LINE[status], head, body))
    cycle.response_complete = True
    cycle.message_event.set()
    cycle.on_response()
    return True


def _is_usual(cycle: RequestResponseCycle, status: int) -> bool:
    is_open = not (cycle.disconnected or cycle.response_started or cycle.flow.write_paused)
    has_body = status not in {204, 304} and cycle.scope["method"] != "HEAD"
    return is_open and has_body and cycle.keep_alive and not cycle.access_log
