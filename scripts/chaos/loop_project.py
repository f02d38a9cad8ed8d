"""Makes the project that `loop.py` serves, and the replies of its vendor."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gateways import ROOT, ChaosError

MEGABYTE: Final = 2**20
WHOLE: Final = "whole"
"""The agent whose results over MCP are not cut."""
ROWS: Final = 5_000
"""The most that `sheets.list_clients` reads."""
_STEP_SECONDS: Final = 550.0
_FILLING: Final = 1_000
_TEXT: Final = {"type": "string"}
_ROW: Final = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string", "maxLength": 300},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": _TEXT},
    },
}
_THING: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": [f"m{number}" for number in range(8)],
    "properties": {f"m{number}": {"type": "integer"} for number in range(8)},
}
_SCHEMAS: Final[Mapping[str, Any]] = {
    "rows": {"type": "array", "items": _ROW},
    "texts": {"type": "array", "items": _TEXT},
    "numbers": {"type": "array", "items": {"type": "integer"}},
    "members": {"type": "object", "additionalProperties": _TEXT},
    "deep": {"type": "object"},
    "pieces": {"type": "array", "items": _TEXT},
    "wrong": {"type": "array", "items": _THING},
    "hidden": {"type": "array", "items": _ROW},
}
_CLIENTS: Final = (
    *("client_id", "name", "email", "phone", "company", "aircraft_preference"),
    *("catering_preference", "special_needs", "vip_status", "total_flights", "last_flight_date"),
    *("preferred_operators", "created_at", "updated_at"),
)


def replies(size: int) -> dict[str, bytes]:
    """The body of each reply of the vendor, of about `size` bytes where it is not at a limit."""
    # As many names and values as a reply may have, or nearly.
    row = {"id": 1, "name": "n" * 90, "price": 12.5, "tags": ["new", "red"]}
    count = size // (len(_json(row)) + 1)
    rows = [row | {"id": number} for number in range(count)]
    deep: Any = {}
    for _ in range(62):
        deep = {"next": deep}
    wrong = {f"m{number}": "x" * 26 for number in range(8)}
    return {
        "rows": _json(rows),
        "texts": _json(["t" * (size // 8)] * 8),
        "numbers": _json([10**15 + number for number in range(size // 17)]),
        "members": _json({f"member{number}": "v" * 100 for number in range(10_000)}),
        "deep": _json(deep),
        "pieces": _json(["t" * (size - 4)]),
        "wrong": _json([wrong] * (size // (len(_json(wrong)) + 1))),
        "hidden": _json([*rows[:-1], row | {"name": "a\u200bb"}]),
        "sheet": _json({"range": "Clients", "values": [_CLIENTS, *map(_client, range(ROWS))]}),
    }


async def make_project(folder: Path, vendor: str, document_bytes: int) -> None:
    """A project with avinode, sheets, supabase and a vendor whose document is so large.

    Raises `ChaosError`.
    """
    await asyncio.to_thread(folder.mkdir)
    await run(folder, "init")
    await run(folder, "add", "avinode", "sheets", "supabase")
    document = folder.parent / "vendor.json"
    await asyncio.to_thread(_write, folder, document, document_bytes)
    await run(folder, "import", str(document), "--as", "vendor", "--base-url", vendor, "--yes")
    await run(folder, "generate")


def _write(folder: Path, document: Path, document_bytes: int) -> None:
    agent = f"  {WHOLE}:\n    description: Gets all.\n    maxResultTokens: 10000000\n"
    with (folder / "schemas/policies/agents.yaml").open("a") as policies:
        policies.write(f"{agent}    grants: ['*']\n")
    document.write_text(json.dumps(_document(document_bytes)))


async def run(folder: Path, *argv: str, **more: str) -> str:
    """What a command of the gateway prints. Raises `ChaosError`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *argv),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**settings(), **more},
        cwd=folder,
    )
    output, _ = await asyncio.wait_for(process.communicate(), _STEP_SECONDS)
    text = output.decode(errors="replace")
    if process.returncode != 0:
        raise ChaosError(f"gateway {argv[0]} ended with {process.returncode}: {text[-500:]}")
    return text


def settings() -> dict[str, str]:
    """The environment, without settings of another gateway."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    return {**own, "PYTHONPATH": str(ROOT)}


async def serve_vendor(
    bodies: Mapping[str, bytes],
) -> tuple[asyncio.Server, str]:
    """The vendor, and its URL. It answers `GET /<name>` with that body, and issues tokens."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if length := re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE):
                    await reader.readexactly(int(length[1]))
                writer.write(_reply(head.split()[1].decode(), bodies))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def _reply(path: str, bodies: Mapping[str, bytes]) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    if "/spreadsheets/" in path:
        body = bodies["sheet"]
    elif path == "/pieces":
        # As many pieces of one byte as pass: the mean of all is at least 16 bytes.
        body = bodies["pieces"]
        first = len(body) - len(body) // 17
        pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in body[first:])
        chunks = b"%x\r\n%b\r\n" % (first, body[:first]) + pieces + b"0\r\n\r\n"
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
    else:
        token = {"access_token": "token", "token_type": "Bearer", "expires_in": 3600}
        body = bodies.get(path[1:], _json(token))
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _document(size: int) -> dict[str, Any]:
    """OpenAPI with an operation for each reply, one that gets things, and some that fill it."""
    paths: dict[str, Any] = {
        f"/{name}": {"get": _operation(f"get_{name}", schema)} for name, schema in _SCHEMAS.items()
    }
    body = {"type": "object", "properties": {"things": {"type": "array", "items": _THING}}}
    body["additionalProperties"] = _TEXT
    paths["/things"] = {"post": _operation("put_things", {"type": "object"}, body)}
    member = {"type": "string", "description": "What it says about the part. " * 4}
    fields = max(1, size // _FILLING // (len(_json(member)) + 14))
    part = {"type": "object", "properties": {f"field_{n}": member for n in range(fields)}}
    for number in range(_FILLING):
        paths[f"/parts/{number}"] = {"post": _operation(f"part_{number}", {"type": "object"}, part)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Vendor", "version": "1"},
        "servers": [{"url": "https://vendor.example"}],
        "paths": paths,
    }


def _operation(name: str, schema: Any, body: Any = None) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    made = {"operationId": name, "responses": {"200": {"description": "ok", "content": content}}}
    if body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return made


def _client(number: int) -> list[str]:
    email = f"client{number}@example.com"
    flown = ("gold", "12", "2025-09-15", "OP-001, OP-003", "2024-03-11", "2025-09-16")
    wishes = ("midsize", "kosher", "none")
    return [f"CL-{number}", f"Client {number}", email, "+1-555", "Acme", *wishes, *flown]


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
