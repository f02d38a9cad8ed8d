"""A whole HTTP/1.1 answer as bytes, for requests that never reach the application."""

from typing import Final

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gateway.errors import GatewayError
from gateway.transports.asgi import Headers, new_request_id, with_safety_headers
from gateway.transports.problems import PROBLEM_JSON, problem_headers, problem_of

_CLOSE: Final = (b"connection", b"close")


def raw_answer(error: GatewayError, default_headers: Headers) -> bytes:
    """A whole answer to a request of which no more than `error` is known; the last on its wire."""
    request_id = new_request_id()
    problem = problem_of(error, request_id)
    body = msgspec.json.encode(problem)
    own = [(b"content-type", PROBLEM_JSON), (b"content-length", b"%d" % len(body)), _CLOSE]
    own += [field for field in problem_headers(error) if field != _CLOSE]
    fields = with_safety_headers([*default_headers, *own], request_id)
    lines = [b"%b: %b\r\n" % field for field in fields]
    return b"".join([STATUS_LINE[problem.status], *lines, b"\r\n", body])
