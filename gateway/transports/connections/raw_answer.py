"""Builds a whole HTTP/1.1 answer as bytes, for requests that do not reach the application."""

from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.errors import GatewayError
from gateway.transports.http.asgi import Headers, new_request_id, with_safety_headers
from gateway.transports.http.problems import CLOSE, PROBLEM_JSON, written

_ANY_ID: Final = "-" * len(new_request_id())


def raw_answer(error: GatewayError, default_headers: Headers) -> bytes:
    """A whole answer with `error`. It is the last answer on its connection."""
    return _answer(error, default_headers, new_request_id(), [CLOSE])


class RepeatedAnswer:
    """The same answer to many requests, which keep their connections. Only the ids differ."""

    def __init__(self, error: GatewayError) -> None:
        self._error = error
        self._headers: Headers | None = None
        self._parts: list[bytes] = []

    def written(self, default_headers: Headers) -> bytes:
        """A whole answer with a new request id."""
        if default_headers is not self._headers:
            # The server makes new ones each second, for their date.
            answer = _answer(self._error, default_headers, _ANY_ID, [])
            self._headers, self._parts = default_headers, answer.split(_ANY_ID.encode())
        return new_request_id().encode().join(self._parts)


def _answer(error: GatewayError, default_headers: Headers, request_id: str, last: Headers) -> bytes:
    status, own, body = written(error, request_id)
    length = b"%d" % len(body)
    own += [(b"content-type", PROBLEM_JSON), (b"content-length", length)]
    own += [field for field in last if field not in own]
    fields = with_safety_headers([*default_headers, *own], request_id)
    lines = [b"%b: %b\r\n" % field for field in fields]
    return b"".join([STATUS_LINE[status], *lines, b"\r\n", body])
