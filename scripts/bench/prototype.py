"""What a call costs without a gateway: a bare program that serves one tool and nothing else.

It decodes and validates the arguments, maps them, calls the upstream with aiohttp, validates the
reply, maps and validates the result, and encodes it. It has the gateway's schemas and field maps,
and neither keys, grants, limits, deadlines, errors, audit nor metrics.
"""

import argparse
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import msgspec
from serving import serve

from gateway.catalogue import open_catalogue
from gateway.catalogue.index import Entry
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.context import CallFacts
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts
from gateway.contract.values.schema import Validator

_FACTS = CallFacts(id="bench", now="2026-01-01T00:00:00Z")
_HEADERS = [(b"content-type", b"application/json")]
Message = dict[str, Any]


class Prototype:
    """An ASGI application with one tool."""

    def __init__(
        self, entry: Entry, binding: HttpBinding, replies: dict[str, Validator], upstream: str
    ) -> None:
        self._entry = entry
        self._binding = binding
        self._replies = replies
        self._upstream = upstream
        self._decode = msgspec.json.Decoder().decode
        self._encode = msgspec.json.Encoder().encode
        self.session: aiohttp.ClientSession | None = None

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Serve one call, whatever its path is."""
        if scope["type"] != "http":
            await _live(receive, send)
            return
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message.get("more_body"):
                break
        answer = await self._answer(body)
        length = (b"content-length", b"%d" % len(answer))
        start = {"type": "http.response.start", "status": 200, "headers": [*_HEADERS, length]}
        await send(start)
        await send({"type": "http.response.body", "body": answer})

    async def _answer(self, body: bytes) -> bytes:
        arguments = self._decode(body)
        if not self._entry.input.admits(arguments) or self.session is None:
            raise ValueError("the arguments are not valid")
        request = self._binding.request(arguments, _FACTS)
        url = f"{self._upstream}/{'/'.join(request.path)}"
        sent = self._encode(request.body)
        async with self.session.request(request.method, url, data=sent) as reply:
            found = self._decode(await reply.read())
            status = str(reply.status)
        if not self._replies[status].admits(found):
            raise ValueError("the reply is not valid")
        facts = ReplyFacts(status=int(status), headers={}, body=found, elapsed_ms=0)
        result = self._binding.results[status](arguments, _FACTS, facts)
        if not self._entry.output.admits(result):
            raise ValueError("the result is not valid")
        return self._encode(result)


async def _live(
    receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def main() -> None:
    """Read the upstream's headers as JSON from standard input, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upstream", help="base URL")
    parser.add_argument("tool")
    options = parser.parse_args()
    headers = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, str])
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    entry = catalogue.find(options.tool)
    binding = entry.operation.binding
    if not isinstance(binding, HttpBinding):
        parser.error(f"{options.tool} has no field map")
    operations = {each.id: each for each in catalogue.upstreams[binding.upstream].operations}
    schemas = operations[binding.upstream_operation].replies
    replies = {status: Validator(schema) for status, schema in schemas.items() if schema}
    application = Prototype(entry, binding, replies, options.upstream)

    async def opening(scope: Message, receive: Any, send: Any) -> None:
        if application.session is None:
            named = {**headers, "content-type": "application/json"}
            application.session = aiohttp.ClientSession(headers=named)
        await application(scope, receive, send)

    serve(opening)


if __name__ == "__main__":
    main()
