"""The HTTP requests to the contenders, as bytes."""

import json
from collections.abc import Mapping
from typing import Any, Final

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
CLIENT: Final = {"name": "bench", "version": "1"}
META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
"""What each request of 2026-07-28 says about itself."""


def message(port: int, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """An HTTP/1.1 request with JSON in and out."""
    lines = [
        f"{method} {target} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


def rest(port: int, path: str, arguments: Mapping[str, Any], key: str) -> bytes:
    """One call over the gateway's REST transport."""
    headers = {"Accept": "application/json", "Authorization": f"Bearer {key}"}
    return message(port, "POST", path, json.dumps(arguments).encode(), headers)


def mcp(
    port: int, revision: str, tool: str, arguments: Mapping[str, Any], key: str | None = None
) -> bytes:
    """One `tools/call` in either protocol version, without a session."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
    }
    if revision == MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
        params["_meta"] = META
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return message(port, "POST", "/mcp", json.dumps(call).encode(), headers)
