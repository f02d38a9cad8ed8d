"""Builds a whole HTTP/1.1 answer as bytes, for requests that do not reach the application."""

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.errors import GatewayError
from gateway.transports.http.asgi import Headers, new_request_id, with_safety_headers
from gateway.transports.http.problems import CLOSE, PROBLEM_JSON, written


def raw_answer(error: GatewayError, default_headers: Headers) -> bytes:
    """A whole answer with `error`. It is the last answer on its connection."""
    request_id = new_request_id()
    status, own, body = written(error, request_id)
    length = b"%d" % len(body)
    own += [(b"content-type", PROBLEM_JSON), (b"content-length", length)]
    own += [] if CLOSE in own else [CLOSE]
    fields = with_safety_headers([*default_headers, *own], request_id)
    lines = [b"%b: %b\r\n" % field for field in fields]
    return b"".join([STATUS_LINE[status], *lines, b"\r\n", body])
