"""The clients of a gateway under test: one call over REST or MCP, and the answer in common terms.

Requests are written as text, so that what no library would send can be sent too.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import httpx
from msgspec import Struct

from gateway.catalogue import Entry
from gateway.transports.http.call_headers import KEY_META

REST: Final = "REST"
MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
STDIO: Final = "stdio"
SILENT_SECONDS: Final = 300.0
"""How long a gateway may say nothing before it is given up."""
_JSON: Final = "application/json"
_INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
_UNDER_WAY: Final = "JOB_UNDER_WAY"
_LOOK_SECONDS: Final = 0.01
"""The time between two looks at a job."""


class TransportFailed(Exception):
    """A transport could not be opened, was lost, or broke its protocol."""


class BrokenAnswer(Exception):
    """An answer whose parts contradict each other."""


class CallAnswer(Struct, frozen=True):
    """What one transport answered, in terms that all of them share."""

    accepted: bool
    status: int
    """The HTTP status, the one that the problem inside an MCP result names, or that of JSON-RPC."""
    code: str | None
    errors: frozenset[tuple[str, str]]
    """Pointer and keyword of each violation."""
    body: Any

    @property
    def refusal(self) -> str:
        """Why there is no result, in one line."""
        return f"{self.status} {self.code}: {self.body.get('detail', self.body.get('message'))}"


class Ask(Protocol):
    """Calls an operation over one transport."""

    def __call__(
        self, entry: Entry, arguments: bytes, key: str | None = None, /
    ) -> Awaitable[CallAnswer]:
        """Call with `arguments` and an idempotency key, if given."""
        ...


Exchange = Callable[[bytes, Mapping[str, str]], Awaitable[dict[str, Any] | None]]
"""Sends a JSON-RPC message with these header fields, and returns the response to it."""


def client(url: str, key: str | None, transport: Any = None) -> httpx.AsyncClient:
    """A client of the gateway at `url`. `transport`: to a gateway of this process."""
    return httpx.AsyncClient(
        base_url=url,
        headers={} if key is None else {"authorization": f"Bearer {key}"},
        timeout=SILENT_SECONDS,
        transport=transport,
        trust_env=False,
    )


class Rest:
    """`POST /v1/<connector>/<tool>`, and `GET` for queries. Files are members of results."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def call(self, entry: Entry, arguments: bytes, key: str | None = None) -> CallAnswer:
        headers = {"content-type": _JSON, "accept": _JSON}
        if key is not None:
            headers["idempotency-key"] = key
        reply = await self._http.post(entry.operation.route, content=arguments, headers=headers)
        if reply.status_code != 202:
            return read_rest(reply)
        job = reply.headers["location"]

        async def look() -> CallAnswer:
            return read_rest(await self._http.get(f"{job}/result", headers={"accept": _JSON}))

        return await _ended(job, look)

    async def get(self, entry: Entry, arguments: Mapping[str, Any]) -> CallAnswer:
        """The same with the arguments as query parameters; those of a list are repeated."""
        query: list[tuple[str, str | int | float | bool | None]] = [
            (name, each if isinstance(each, str) else json.dumps(each))
            for name, value in arguments.items()
            for each in (value if isinstance(value, list) else [value])
        ]
        return read_rest(await self._http.get(entry.operation.route, params=query))


def parameters(entry: Entry, arguments: bytes) -> dict[str, Any] | None:
    """The arguments of a query, where query parameters can say them."""
    if not entry.operation.is_query:
        return None
    try:
        values = json.loads(arguments)
    except ValueError:
        return None
    if not isinstance(values, dict):
        return None
    members = entry.listing.input_schema["properties"]
    kinds = {name: members.get(name, {"type": "string"})["type"] for name in values}
    return values if all(_is_sayable(kinds[name], values[name]) for name in values) else None


def _is_sayable(kind: str, value: Any) -> bool:
    """Whether a parameter of this type can say `value`.

    Null and an object have no form there; a list has one by repetition; and text that reads like a
    number cannot be distinguished from the number.
    """
    if kind == "array":
        return isinstance(value, list) and bool(value) and all(type(each) is str for each in value)
    match value:
        case str():
            return kind == "string" or not value[:2].strip("-").isdecimal()
        case bool() | int() | float():
            return kind != "string"
        case [_, _, *_]:
            return all(not isinstance(each, list) and _is_sayable(kind, each) for each in value)
    return False


class Mcp:
    """`tools/call` in one revision of MCP."""

    def __init__(self, exchange: Exchange, version: str) -> None:
        self._exchange = exchange
        self._version = version

    async def shake_hands(self) -> None:
        """Initialise the session. Raises `TransportFailed` for another revision."""
        said = await self.ask(
            "initialize",
            protocolVersion=self._version,
            capabilities={},
            clientInfo={"name": "contract-suite", "version": "1"},
        )
        spoken = said.get("result", {}).get("protocolVersion")
        if spoken != self._version:
            raise TransportFailed(f"spoke {spoken} instead of {self._version}")
        headers, _ = request(self._version, "notifications/initialized", {})
        await self._exchange(_INITIALIZED, headers)

    async def ask(
        self,
        method: str,
        arguments: bytes | None = None,
        key: str | None = None,
        **params: Any,
    ) -> dict[str, Any]:
        """The response to a request. `arguments` are sent as they are, even if they are no JSON."""
        headers, body = request(self._version, method, params, arguments, key)
        response = await self._exchange(body, headers)
        if response is None:
            raise BrokenAnswer(f"{method} has no response")
        return response

    async def call(self, entry: Entry, arguments: bytes, key: str | None = None) -> CallAnswer:
        name = entry.tool.name
        answer = read_mcp(await self.ask("tools/call", arguments, key, name=name), entry)
        job = answer.body.get("job_id") if answer.accepted else None
        if entry.operation.task == "never" or job is None:
            return answer
        named = json.dumps({"job_id": job}).encode()

        async def look() -> CallAnswer:
            return read_mcp(await self.ask("tools/call", named, name="job_result"), entry)

        return await _ended(job, look)


def request(
    version: str,
    method: str,
    params: Mapping[str, Any],
    arguments: bytes | None = None,
    key: str | None = None,
) -> tuple[dict[str, str], bytes]:
    """The header fields and the text of a request in this revision of MCP."""
    headers = {
        "content-type": _JSON,
        "accept": f"{_JSON}, text/event-stream",
        "mcp-protocol-version": version,
    }
    meta: dict[str, Any] = {}
    if version == MODERN:
        headers |= {"mcp-method": method} | (
            {"mcp-name": params["name"]} if "name" in params else {}
        )
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    if key is not None:
        meta[KEY_META] = key
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    text = json.dumps(message).encode()
    if arguments is not None:
        text = text.removesuffix(b"}}") + b',"arguments":' + arguments + b"}}"
    return headers, text


def over_http(http: httpx.AsyncClient) -> Exchange:
    """Streamable HTTP."""

    async def exchange(message: bytes, headers: Mapping[str, str]) -> dict[str, Any] | None:
        reply = await http.post("/mcp", content=message, headers=dict(headers))
        return message_in(reply) if reply.content else None

    return exchange


@asynccontextmanager
async def over_pipes(process: asyncio.subprocess.Process) -> AsyncIterator[Exchange]:
    """Messages as lines to the standard input of `process`, which ends with it."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise TransportFailed("the gateway's pipes cannot be used")

    async def exchange(message: bytes, headers: Mapping[str, str]) -> dict[str, Any] | None:  # noqa: ARG001 - pipes have none
        stdin.write(message + b"\n")
        if message == _INITIALIZED:
            return None
        while True:
            async with asyncio.timeout(SILENT_SECONDS):
                line = await stdout.readline()
            if not line:
                raise TransportFailed("the gateway ended unasked")
            response: dict[str, Any] = json.loads(line)
            if "id" in response:
                return response

    try:
        yield exchange
        stdin.close()
        async with asyncio.timeout(SILENT_SECONDS):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def message_in(reply: httpx.Response) -> dict[str, Any]:
    """The last message of a reply over HTTP, plain or as an event stream."""
    data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]
    message: dict[str, Any] = json.loads(data[-1]) if data else reply.json()
    return message


def read_rest(reply: httpx.Response) -> CallAnswer:
    """The answer in a reply over REST."""
    body = reply.json()
    if reply.status_code == 200:
        return CallAnswer(True, 200, None, frozenset(), body)
    if reply.headers["content-type"] != "application/problem+json":
        raise BrokenAnswer(f"{reply.status_code} is {reply.headers['content-type']}, no problem")
    if body["status"] != reply.status_code:
        raise BrokenAnswer(f"{reply.status_code} says of itself that it is {body['status']}")
    return _refused(body)


def read_mcp(message: Mapping[str, Any], entry: Entry) -> CallAnswer:
    """The answer in a response to `tools/call`."""
    if "error" in message:
        error = message["error"]
        data = error.get("data")
        code = data.get("code") if isinstance(data, dict) else None
        return CallAnswer(False, error["code"], code, frozenset(), error)
    result = message["result"]
    blocks, values = result["content"], result.get("structuredContent")
    text = blocks[0].get("text", "") if blocks else ""
    if result.get("isError"):
        if values is not None:
            raise BrokenAnswer("an error has structured content")
        return _refused(json.loads(text))
    if values is None:
        # A list of content blocks is sent as these blocks.
        return CallAnswer(True, 200, None, frozenset(), {"content": blocks})
    member = entry.operation.text_member
    is_text = member is not None and values == {member: text}
    if not is_text and json.loads(text) != values:
        raise BrokenAnswer("the structured content differs from the text")
    return CallAnswer(True, 200, None, frozenset(), {**values, **_bytes_in(blocks[1:])})


def _bytes_in(blocks: list[dict[str, Any]]) -> dict[str, str]:
    """The bytes of a file as REST has them in JSON. Empty for other results."""
    for block in blocks:
        data = block.get("data", block.get("resource", {}).get("blob"))
        if data is not None:
            return {"data": data}
    return {}


def _refused(problem: dict[str, Any]) -> CallAnswer:
    errors = frozenset((e["pointer"], e["keyword"]) for e in problem.get("errors", ()))
    return CallAnswer(False, problem["status"], problem["code"], errors, problem)


async def _ended(job: str, look: Callable[[], Awaitable[CallAnswer]]) -> CallAnswer:
    """What the call would have been answered, had it not become this job.

    Raises `TransportFailed` for a job that does not end: one that asks would wait for a day.
    """
    try:
        async with asyncio.timeout(SILENT_SECONDS):
            while True:
                answer = await look()
                if answer.code != _UNDER_WAY:
                    return answer
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise TransportFailed(f"{job} has not ended in {SILENT_SECONDS:g} seconds") from None
