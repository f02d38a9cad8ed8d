"""What callers ask of the simulated gateway, over each transport, and what they are answered."""

import asyncio
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.transports.mcp.subscriptions import PING_SECONDS
from tests.simulation.world import CALCULATE, GREET, KEY, NOTIFY, Answer, World

Transport = Literal["rest", "mcp", "session"]
PATHS: Final = {
    GREET: "/v1/example/greet",
    CALCULATE: "/v1/example/calculate",
    NOTIFY: "/v1/ntfy/send_push_notification",
}
_MODERN: Final = "2026-07-28"
_HANDSHAKE: Final = "2025-11-25"
_PREFIX: Final = "io.modelcontextprotocol/"
_BOTH: Final = "application/json, text/event-stream"


class Wish(Struct, kw_only=True):
    """What one caller wants once, and all that it was answered."""

    operation: str
    name: str
    """Unlike all others: the upstream counts effects by it."""
    is_keyed: bool = False
    transport: Transport = "rest"
    key: str = KEY
    answers: list[Answer] = []

    @property
    def arguments(self) -> dict[str, object]:
        if self.operation == CALCULATE:
            return {"operation": "add", "a": hash_of(self.name), "b": 1}
        return {"name" if self.operation == GREET else "message": self.name}

    def __str__(self) -> str:
        answered = [f"{each.status} {each.code}".strip() for each in self.answers]
        return f"{self.operation} of {self.name} over {self.transport}: {answered}"


def hash_of(name: str) -> int:
    """A number for a name, the same in each process."""
    return int.from_bytes(name.encode()[-6:])


async def ask(world: World, wish: Wish, leave_after: float | None = None) -> Answer:
    """Ask once. What the caller is answered is noted in the wish."""
    asking = {"rest": _over_rest, "mcp": _over_mcp, "session": _in_session}[wish.transport]
    answer = await asking(world, wish, leave_after)
    wish.answers.append(answer)
    if answer.status == 500 and answer.body["type"] != "/problems/not-recorded":
        world.violations.append(f"{wish}: {answer.body}")
    if answer.status in {401, 429} and "valid key" in str(answer.body):
        world.violations.append(f"{wish}: its key is valid: {answer.body}")
    return answer


async def _over_rest(world: World, wish: Wish, leave_after: float | None) -> Answer:
    headers = {"idempotency-key": wish.name} if wish.is_keyed else {}
    path = PATHS[wish.operation]
    return await world.request("POST", path, wish.arguments, leave_after, wish.key, **headers)


async def _over_mcp(world: World, wish: Wish, leave_after: float | None) -> Answer:
    capabilities: dict[str, Any] = {}
    facts = {f"{_PREFIX}protocolVersion": _MODERN, f"{_PREFIX}clientCapabilities": capabilities}
    body = _call(wish, facts)
    headers = {
        "accept": _BOTH,
        "mcp-protocol-version": _MODERN,
        "mcp-method": "tools/call",
        "mcp-name": body["params"]["name"],
    }
    found = await world.request("POST", "/mcp", body, leave_after, wish.key, **headers)
    return _translated(found)


async def _in_session(world: World, wish: Wish, leave_after: float | None) -> Answer:
    session = await open_session(world, wish.key)
    if session is None:
        return Answer()
    body = _call(wish, {})
    return _translated(await world.request("POST", "/mcp", body, leave_after, wish.key, **session))


async def open_session(world: World, key: str = KEY) -> dict[str, str] | None:
    """The headers of a new session. None if it could not be opened, as when the store fails."""
    opening = {"protocolVersion": _HANDSHAKE, "capabilities": {}, "clientInfo": _CLIENT}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}
    answer = await world.request("POST", "/mcp", body, None, key, accept=_BOTH)
    session = answer.headers.get("mcp-session-id")
    if session is None:
        return None
    return {"accept": _BOTH, "mcp-session-id": session, "mcp-protocol-version": _HANDSHAKE}


_CLIENT: Final = {"name": "simulation", "version": "1"}


def _call(wish: Wish, facts: dict[str, Any]) -> dict[str, Any]:
    meta = {**facts, "progressToken": "p"}
    if wish.is_keyed:
        meta["contract-gateway/idempotencyKey"] = wish.name
    name = wish.operation.replace(".", "_")
    params = {"name": name, "arguments": wish.arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _translated(answer: Answer) -> Answer:
    """The answer as REST would give it."""
    message = answer.body
    if not isinstance(message, dict) or "jsonrpc" not in message:
        return answer
    if "error" in message:
        problem = (message["error"].get("data") or {}).get("problem", message["error"])
        return Answer(int(problem.get("status", 400)), {}, problem)
    result = message.get("result")
    if result is None:
        return Answer(0, {}, message)
    problem = result.get("_meta", {}).get("contract-gateway/problem")
    if problem is not None:
        return Answer(problem["status"], {}, problem)
    values = result.get("structuredContent", {})
    if "job_id" in values:
        return Answer(202, {"location": f"/v1/jobs/{values['job_id']}"}, values)
    return Answer(200, {}, values)


async def listen(world: World, turns: int) -> None:
    """A client with a session whose streams overlap, and end when it leaves."""
    session = await open_session(world)
    if session is None:
        return
    streams = []
    for _ in range(turns):
        # Often when the stream is to say something.
        then = PING_SECONDS + world.random.uniform(0.0, 0.05)
        leave = world.random.choice([world.random.uniform(0.0, 40.0), then, then])
        headers = {**session, "accept": "text/event-stream"}
        stream = world.request("GET", "/mcp", None, leave, **headers)
        streams.append(asyncio.create_task(stream))
        await asyncio.sleep(world.random.choice([0.0, 0.0, 0.01, 5.0, PING_SECONDS]))
    for answer in await asyncio.gather(*streams):
        if answer.status >= 500 and answer.status != 503:
            world.violations.append(f"a stream: {answer.status} {answer.body}")
