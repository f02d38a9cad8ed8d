"""Serve DOCUMENT with FastMCP `from_openapi` over HTTP, and call the tools that CALLS names.

Prints one JSON object: the listed tools, and the result of each call. Runs in a
separate environment, which `peer.py` creates, so it imports nothing of this project.
"""

import argparse
import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from fastmcp import FastMCP  # type: ignore[import-not-found]  # installed by peer.py only


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("calls", type=Path)
    parser.add_argument("base_url")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    document = json.loads(arguments.document.read_text("utf-8"))
    calls = json.loads(arguments.calls.read_text("utf-8"))
    print(json.dumps(asyncio.run(probed(document, calls, arguments.base_url))))


async def probed(document: Any, calls: list[Any], base_url: str) -> dict[str, Any]:
    """The listed tools, and the result of each call."""
    upstream = httpx2.AsyncClient(base_url=base_url)
    server = FastMCP.from_openapi(document, client=upstream, name="probe")
    async with serving(server) as url, httpx2.AsyncClient() as client:
        results = []
        for call in calls:
            params = {"name": call["tool"], "arguments": call["arguments"]}
            given = call.get("given") or {}
            results.append(await asked(client, url, "tools/call", params, given))
        listed = await asked(client, url, "tools/list", {}, {})
    return {"tools": listed["tools"], "results": results}


@asynccontextmanager
async def serving(server: Any) -> AsyncIterator[str]:
    """The URL of `server`, over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = server.http_app(stateless_http=True, json_response=True)
        config = uvicorn.Config(app, log_level="critical", lifespan="on")
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        running.should_exit = True
        await task


async def asked(
    client: httpx2.AsyncClient,
    url: str,
    method: str,
    params: dict[str, Any],
    given: dict[str, str],
) -> dict[str, Any]:
    """The result of one request, without the checks of a client. An error has `isError`."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"accept": "application/json, text/event-stream"}
    headers |= {"mcp-protocol-version": "2025-06-18", **given}
    answer = (await client.post(url, json=message, headers=headers)).json()
    found: dict[str, Any] = answer.get("result", {"isError": True})
    return found


if __name__ == "__main__":
    main()
