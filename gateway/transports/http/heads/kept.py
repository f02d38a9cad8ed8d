"""Keeps what was found out about the head of a request for the next one of its connection.

Most clients send the same fields with each request, except for the length of the body. So these
are read and checked once for many requests.
"""

from typing import Final

from gateway.transports.http.asgi import Facts, Headers, Scope
from gateway.transports.http.heads.checks import BODILESS, LENGTH, REQUEST_ID, size_of

_VARYING: Final = frozenset({REQUEST_ID, b"traceparent", b"tracestate", b"transfer-encoding"})
"""Fields that differ from request to request, or that decide where it ends."""
_MAX_BYTES: Final = 4096
"""Larger heads are not kept: there may be many connections."""


class KeptHead:
    """The fields of a request that passed all checks of them, except its Content-Length."""

    __slots__ = ("_after", "_before", "_length_at", "_method", "facts", "owner", "size")

    def __init__(self, scope: Scope, length_at: int | None, size: int, owner: object) -> None:
        headers: Headers = scope["headers"]
        self._method: str = scope["method"]
        self._length_at = length_at
        self._before = headers if length_at is None else headers[:length_at]
        self._after = [] if length_at is None else headers[length_at + 1 :]
        self.size = size if length_at is None else size - len(headers[length_at][1])
        """The bytes of all names and values, without the value of Content-Length."""
        self.owner = owner
        """Stands for the one who has checked it, by which rules."""
        self.facts: Facts = {}

    @property
    def has_length(self) -> bool:
        """Whether it has a Content-Length."""
        return self._length_at is not None

    def is_of(self, scope: Scope) -> bool:
        """Whether a request has the same method and, except for the Content-Length, fields."""
        headers: Headers = scope["headers"]
        if scope["method"] != self._method:
            return False
        at = self._length_at
        if at is None:
            return bool(headers == self._before)
        has_length = len(headers) > at and headers[at][0] == LENGTH
        return has_length and headers[:at] == self._before and headers[at + 1 :] == self._after

    def length_of(self, scope: Scope) -> bytes:
        """The Content-Length of a request that has this head. Empty if there is none."""
        headers: Headers = scope["headers"]
        return b"" if self._length_at is None else headers[self._length_at][1]


def keep(scope: Scope, owner: object) -> KeptHead | None:
    """What is kept of a request that passed all checks. None: the next one is checked in full."""
    headers: Headers = scope["headers"]
    length_at = None
    for number, (name, _) in enumerate(headers):
        if name in _VARYING:
            return None
        if name == LENGTH:
            length_at = number
    if length_at is not None and scope["method"] in BODILESS:
        return None
    size = size_of(headers)
    return KeptHead(scope, length_at, size, owner) if size <= _MAX_BYTES else None
