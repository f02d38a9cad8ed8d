"""The inputs of `loop.py`: each sends one at its limit and says what came back."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from uuid import uuid4

import httpx
from gateways import KEY, SECRET
from sender import Message, quote, signed

_REVISION: Final = "2026-07-28"
_ANSWER_SECONDS: Final = 300.0
_THINGS: Final = "/v1/vendor/put_things"
_RELOAD_SECONDS: Final = 12.0
Input = Callable[["Client"], Awaitable[str]]


class Client:
    """The client of the gateway."""

    def __init__(self, url: str, whole: str, pid: int) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=_ANSWER_SECONDS)
        self._url = url
        self._whole = whole
        self._pid = pid

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def get(self, path: str) -> str:
        """GET as the administrator."""
        return await self._said("GET", path, headers=_bearer(KEY))

    async def post(self, path: str, body: Any) -> str:
        """Call a tool over REST."""
        return await self._said("POST", path, json=body, headers=_bearer(KEY))

    async def mcp(self, method: str, *, key: str = KEY, **params: Any) -> str:
        """Send a request over MCP."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": _REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _REVISION,
            "mcp-method": method,
            **({"mcp-name": params["name"]} if "name" in params else {}),
            **_bearer(key),
        }
        return await self._said("POST", "/mcp", json=message, headers=headers)

    async def whole(self, tool: str) -> str:
        """Call a tool as the agent whose results are not cut."""
        return await self.mcp("tools/call", key=self._whole, name=tool, arguments={})

    async def webhook(self, message: Message) -> str:
        """Send a message of avinode."""
        head, _, body = signed(message, SECRET.encode(), "/").partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:]]
        headers = {name: value for name, value in fields if name.startswith("X-")}
        headers["content-type"] = "application/json"
        return await self._said("POST", "/webhooks/avinode", content=body, headers=headers)

    async def _said(self, method: str, path: str, **request: Any) -> str:
        try:
            answer = await self._http.request(method, path, **request)
        except httpx.RemoteProtocolError:
            return "cut off"
        name = answer.json().get("type", "").rpartition("/")[2] if answer.is_error else ""
        return f"{answer.status_code} {name}, {len(answer.content):,} bytes"

    async def reload(self) -> str:
        """Reload the catalogue, and call tools until that is served."""
        os.kill(self._pid, signal.SIGHUP)
        until = time.monotonic() + _RELOAD_SECONDS
        count = 0
        while time.monotonic() < until:
            await self.get("/healthz")
            count += 1
            await asyncio.sleep(0.01)
        return f"{count} requests"


async def _audit(client: Client) -> str:
    await _some_records(client)
    return await client.get("/operator/audit?limit=200")


async def _some_records(client: Client) -> None:
    await asyncio.gather(*(client.post("/v1/vendor/get_deep", {}) for _ in range(50)))


async def _jobs(client: Client) -> str:
    await asyncio.gather(*(client.webhook(quote(str(uuid4()))) for _ in range(50)))
    return await client.get("/operator/jobs?limit=200")


async def _large_webhook(client: Client) -> str:
    message = quote(str(uuid4()))
    room = 2**20 - len(message.body) - 20
    body = message.body[:-1] + b', "remark": "' + b"r" * (room - 10) + b'"}'
    return await client.webhook(Message(message.id, body))


async def _many_webhook(client: Client) -> str:
    message = quote(str(uuid4()))
    members = b"".join(b', "m%d": "%s"' % (n, b"v" * 80) for n in range(9_980))
    return await client.webhook(Message(message.id, message.body[:-1] + members + b"}"))


def _wrong_things(count: int = 1_249) -> dict[str, Any]:
    """As many names as there may be, each with a wrong value, in 8 MB."""
    thing = {f"m{number}": "x" * 800 for number in range(8)}
    return {"body": {"things": [thing] * count}}


def _wrong_list() -> dict[str, Any]:
    return {"body": {"things": [1] * 99_000}}


async def _mcp_wrong(client: Client) -> str:
    arguments = _wrong_things(1_247)
    return await client.mcp("tools/call", name="vendor_put_things", arguments=arguments)


async def _mcp_many(client: Client) -> str:
    """A few names more than there may be in a message."""
    arguments = _wrong_things(1_250)
    return await client.mcp("tools/call", name="vendor_put_things", arguments=arguments)


async def _insert(client: Client) -> str:
    """As many rows as one call may add, each of 1.5 kB."""
    row = {"agent_type": "flight_search", "error_type": "timeout", "error_message": "e" * 1500}
    facts = {"workflow_id": "w", "occurred_at": "2026-11-01T10:00:30Z", "retry_count": 1}
    rows = [{**row, **facts, "task_id": f"t{number}"} for number in range(500)]
    return await client.post("/v1/supabase/insert", {"table": "agent_errors", "data": rows})


async def _query(client: Client) -> str:
    """As many rows as one call may read."""
    for _ in range(2):
        await _insert(client)
    return await client.post("/v1/supabase/query", {"table": "agent_errors", "limit": 1_000})


def _rest(kind: str) -> Input:
    return lambda client: client.post(f"/v1/vendor/get_{kind}", {})


def _cut(kind: str) -> Input:
    return lambda client: client.mcp("tools/call", name=f"vendor_get_{kind}", arguments={})


def _whole(kind: str) -> Input:
    return lambda client: client.whole(f"vendor_get_{kind}")


_LARGE: Final = ("rows", "texts", "numbers", "hidden", "members", "deep")
INPUTS: Final[Mapping[str, Input]] = {
    **{f"{kind}-rest": _rest(kind) for kind in (*_LARGE, "wrong", "pieces")},
    **{f"{kind}-mcp-cut": _cut(kind) for kind in (*_LARGE, "wrong")},
    **{f"{kind}-mcp-whole": _whole(kind) for kind in _LARGE},
    "clients": lambda client: client.post("/v1/sheets/list_clients", {}),
    "clients-mcp": lambda client: client.mcp(
        "tools/call", name="sheets_list_clients", arguments={}
    ),
    "things": lambda client: client.post(
        _THINGS, {"body": {f"name{number}": "x" * 800 for number in range(9_900)}}
    ),
    "wrong-things": lambda client: client.post(_THINGS, _wrong_things()),
    "wrong-list": lambda client: client.post(_THINGS, _wrong_list()),
    "wrong-things-mcp": _mcp_wrong,
    "many-names-mcp": _mcp_many,
    "rows-insert": _insert,
    "rows-query": _query,
    "webhook-long": _large_webhook,
    "webhook-names": _many_webhook,
    "tools-list": lambda client: client.mcp("tools/list"),
    "openapi": lambda client: client.get("/openapi.json"),
    "audit": _audit,
    "jobs": _jobs,
    "reload": lambda client: client.reload(),
}


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}
