"""Clients of jobs that leave in the middle: over REST, as followers of a stream, and over MCP."""

import asyncio
import json
from collections.abc import Awaitable, Mapping
from random import Random
from typing import Any, Final

import httpx
from gateways import KEY
from msgspec import Struct

ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})
_REVISION: Final = "2026-07-28"
_PROBLEM: Final = "contract-gateway/problem"
_KEY: Final = "contract-gateway/idempotencyKey"
_SECONDS: Final = 20.0
_LEAVING: Final = 0.03
"""Clients that leave do so within this time."""


class Answer(Struct, frozen=True):
    """What a client got: a result, the state of a job, or a problem."""

    values: Mapping[str, Any]
    is_problem: bool = False

    @property
    def job_id(self) -> str | None:
        """The job, if the answer is one."""
        found = self.values.get("job_id") or (self.values.get("id") if "status" in self else None)
        return found if "operation" in self.values else None

    @property
    def code(self) -> str:
        """The code of the problem. Empty: it is none."""
        return str(self.values["code"]) if self.is_problem else ""

    def __contains__(self, name: str) -> bool:
        return name in self.values


class JobClient:
    """Speaks to one of several servers, another one each time.

    Raises `httpx.TransportError` when that server does not answer.
    """

    def __init__(self, ports: list[int], random: Random) -> None:
        self._ports = ports
        self._random = random
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._http = httpx.AsyncClient(
            headers={"authorization": f"Bearer {KEY}"}, timeout=_SECONDS, limits=limits
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        """Call a tool of ntfy over REST."""
        headers = {} if key is None else {"idempotency-key": key}
        return _rest(
            await self._http.post(self._url(f"/v1/ntfy/{tool}"), json=arguments, headers=headers)
        )

    async def call_mcp(self, tool: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        """Call any tool over MCP, by its MCP name."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": _REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        if key is not None:
            meta[_KEY] = key
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        answer = await self._http.post(
            self._url("/mcp"),
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": _REVISION,
                "mcp-method": "tools/call",
                "mcp-name": tool,
            },
        )
        return _mcp(answer)

    async def job(self, job_id: str) -> Answer:
        """The job now."""
        return _rest(await self._http.get(self._url(f"/v1/jobs/{job_id}")))

    async def result(self, job_id: str) -> Answer:
        """The result of the job."""
        return _rest(await self._http.get(self._url(f"/v1/jobs/{job_id}/result")))

    async def follow(self, job_id: str) -> Answer | None:
        """Follow the job until its stream ends. Returns the last state, if there was one."""
        found = None
        url = self._url(f"/v1/jobs/{job_id}/events")
        async with self._http.stream("GET", url) as answer:
            if answer.status_code != 200:
                await answer.aread()
                return _rest(answer)
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    found = Answer(json.loads(line.removeprefix("data: ")))
        return found

    async def leave(self, job_id: str, kind: str) -> None:
        """Ask for the job, and close the connection before the answer, or in the middle of it."""
        asking: Awaitable[object]
        if kind == "stream":
            asking = self.follow(job_id)
        elif kind == "mcp":
            asking = self.call_mcp("job_status", {"job_id": job_id}, None)
        else:
            asking = self.job(job_id)
        await self.left(asyncio.ensure_future(asking))

    async def left(self, request: "asyncio.Future[Any]") -> bool:
        """Drop the request before it is answered. Returns whether it was still under way."""
        await asyncio.wait({request}, timeout=self._random.random() * _LEAVING)
        was_under_way = request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        return was_under_way

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._random.choice(self._ports)}{path}"


def _rest(answer: httpx.Response) -> Answer:
    return Answer(answer.json(), is_problem=answer.status_code >= 400)


def _mcp(answer: httpx.Response) -> Answer:
    kind = answer.headers.get("content-type", "")
    if answer.status_code >= 400:
        body = answer.json()
        return Answer(body.get("error", {}).get("data") or body, is_problem=True)
    text = answer.text
    if kind.startswith("text/event-stream"):
        text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
    body = json.loads(text)
    if "error" in body:
        return Answer({"code": str(body["error"]["code"]), **body["error"]}, is_problem=True)
    result = body["result"]
    if result.get("isError"):
        return Answer(result["_meta"][_PROBLEM], is_problem=True)
    return Answer(result["structuredContent"])
