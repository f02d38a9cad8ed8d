"""A gateway with two tools whose handlers ask, and a client that answers."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.contract.context import CallContext
from gateway.contract.operation import Effect, PythonBinding, Requirement, TaskMode
from gateway.contract.policies.questions import AskKind
from tests.interaction.long_site import LongSite, open_site
from tests.interaction.test_tasks import MODERN, TASKS

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ALICE = {"action": "accept", "content": {"name": "Alice"}}
ALL: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}


class Handler:
    """The handler of both tools. A test replaces `act`."""

    def __init__(self) -> None:
        self.runs = 0
        self.effects = 0

    async def act(self, context: CallContext) -> str:
        """Ask for a name, and then have the effect."""
        answer = await context.ask("Your name?", NAME, key="user")
        self.effects += 1
        return f"{answer.action} {answer.content.get('name')}"

    async def greet(self, _: Any, context: CallContext) -> dict[str, Any]:
        self.runs += 1
        return {"greeting": await self.act(context)}

    async def calculate(self, _: Any, context: CallContext) -> dict[str, Any]:
        self.runs += 1
        return {"result": len(await self.act(context))}


class NameAndGreeting(Handler):
    """Asks a user for a name, and then a model for a greeting."""

    async def act(self, context: CallContext) -> str:
        name = await context.ask("Your name?", NAME, key="user")
        if name.action != "accept":
            return name.action
        said = await context.sample(f"Greet {name.content['name']}", max_tokens=50)
        return said.text


@asynccontextmanager
async def open_asking(
    folder: Path,
    handler: Handler,
    *,
    task: TaskMode = "never",
    asks: tuple[AskKind, ...] = ("elicitation", "sampling", "roots"),
    requires: tuple[Requirement, ...] = (),
    effect: Effect = Effect.WRITE,
    database: str = "memory:",
    **options: Any,
) -> AsyncIterator[LongSite]:
    """`task`, `asks` and `requires` are those of both tools."""

    def change(entry: Entry) -> Entry:
        run: Callable[..., Any] = (
            handler.greet if entry.id == "example.greet" else handler.calculate
        )
        binding = PythonBinding(run=run, asks=asks)
        operation = replace(entry.operation, binding=binding, task=task, text_member=None)
        return replace(entry, operation=operation, tool=replace(entry.tool, requires=requires))

    async with open_site(database, folder, (effect, effect), change=change, **options) as site:
        yield site


async def post(
    site: LongSite,
    method: str,
    params: dict[str, Any],
    *,
    can: dict[str, Any] | None = None,
    tasks: bool = False,
    key: str | None = None,
    path: str = "/mcp",
    **meta: Any,
) -> dict[str, Any]:
    """The answer to one request. `can`: the capabilities. None: all three."""
    capabilities = ALL if can is None else can
    if tasks:
        capabilities = {**capabilities, "extensions": {TASKS: {}}}
    known = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        **meta,
    }
    shown = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": method,
    }
    name = params.get("name") or params.get("taskId")
    if name is not None:
        shown["mcp-name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": known}}
    async with site.http(key, **shown) as http:
        answer: dict[str, Any] = (await http.post(path, json=body)).json()
    return answer


async def greet(
    site: LongSite,
    first: dict[str, Any] | None = None,
    answers: dict[str, Any] | None = None,
    arguments: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The answer to `example_greet`. `first`: the round that `answers` answer."""
    params: dict[str, Any] = {"name": "example_greet", "arguments": arguments or {"name": "Ada"}}
    if first is not None:
        params["requestState"] = first["result"]["requestState"]
    if answers is not None:
        params["inputResponses"] = answers
    return await post(site, "tools/call", params, **options)


async def outcomes(site: LongSite, operation: str = "example.greet") -> list[str]:
    """The outcomes in the audit, oldest first."""
    await site.gateway.parts.audit.flush()
    found = await site.gateway.parts.store.audit.latest(100)
    return [each.outcome for each in reversed(found) if each.operation == operation]
