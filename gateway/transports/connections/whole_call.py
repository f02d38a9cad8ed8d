"""Finds the end and the tool of a call without parsing it, so that refusing it costs little."""

import re
from typing import Final

CALL_PATHS: Final = ("/v1/", "/mcp", "/tools/")
PAGE_PATHS: Final = ("/docs", "/openapi.json", "/asyncapi.json", "/problems/")
"""Requests of these begin in turn, as calls do, but have no end that is known."""
_STARTS: Final = tuple(b"POST " + path.encode() for path in CALL_PATHS)
TOOL_HEADER: Final = b"mcp-name"
"""What names the tool of an MCP call since the revision 2026-07-28."""
_TOOL: Final = re.compile(rb"\nmcp-name:([^\r\n]*)", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_HEAD: Final = re.compile(
    rb"POST [!$-~]+ HTTP/1\.1(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*)+"
)
"""The only form taken: what a parser refuses does not have it. It has no continued lines, and no
CR or LF by itself, which is a line end for some readers."""
_FRAMING: Final = re.compile(
    rb"\n(content-length|transfer-encoding|connection|expect|upgrade)([^\n]*)", re.IGNORECASE
)
"""The headers that decide where a request ends."""
_LENGTH: Final = re.compile(rb":[ \t]*([0-9]{1,9})[ \t]*\r?")
_PERSISTENT: Final = re.compile(rb":[ \t]*keep-alive[ \t]*\r?", re.IGNORECASE)


def length_of_call(data: bytes) -> int | None:
    """The bytes of the call that begins with `data`: its head, which is whole, and its body.

    None if it is no call, or if its end is not beyond doubt. RFC 9112 §6 has many ways to delimit
    a body, and only the one that all clients use is taken here.
    """
    if not data.startswith(_STARTS):
        return None
    end = data.find(_END)
    if end < 0:
        return None
    head = data[:end]
    length = _declared(head) if _HEAD.fullmatch(head) else None
    return None if length is None else end + len(_END) + length


def tool_of_call(data: bytes) -> bytes:
    """What distinguishes the tool of the call that begins with `data` from others.

    The calls of the handshake revisions of MCP name their tool in the body only: all are equal.
    """
    head = data[: data.find(_END)]
    path = head[: head.find(b"\r")].split(b" ", 2)[1].partition(b"?")[0]
    found = _TOOL.search(head)
    return named(path, found[1] if found else b"")


def named(path: bytes, name: bytes) -> bytes:
    """The path and the name of a tool in a single key."""
    return path + b" " + name.strip(b" \t")


def _declared(head: bytes) -> int | None:
    """The only Content-Length. None if there is not exactly one, or another header matters."""
    length = None
    for name, rest in _FRAMING.findall(head):
        found = _LENGTH.fullmatch(rest) if name.lower() == b"content-length" else None
        if found is not None and length is None:
            length = int(found[1])
        elif name.lower() != b"connection" or not _PERSISTENT.fullmatch(rest):
            return None
    return length
