"""A minimal proxy with Litestar and aiohttp: it forwards each request and its response."""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
from litestar import HttpMethod, Litestar, Request, Response, route
from serving import serve


def proxy(upstream: str, headers: dict[str, str]) -> Litestar:
    """An application that forwards every path to `upstream` with `headers`."""

    @asynccontextmanager
    async def session(application: Litestar) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(headers=headers) as opened:
            application.state.session = opened
            yield

    @route("/{path:path}", http_method=[HttpMethod.GET, HttpMethod.POST])
    async def forward(request: Request[Any, Any, Any], path: str) -> Response[bytes]:
        async with request.app.state.session.request(
            request.method,
            f"{upstream}/{path.lstrip('/')}",
            params=request.scope["query_string"].decode("latin-1") or None,
            data=await request.body() or None,
            headers={"content-type": "application/json"},
        ) as reply:
            body = await reply.read()
            return Response(body, status_code=reply.status, media_type="application/json")

    return Litestar([forward], lifespan=[session], openapi_config=None)


def main() -> None:
    """Read the upstream's headers as JSON from standard input, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upstream", help="base URL")
    upstream = parser.parse_args().upstream
    serve(proxy(upstream, msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, str])))


if __name__ == "__main__":
    main()
