"""The SDK for Python: it does what `node/whole.mjs` does, and prints the same.

stdin: {"mode", "transport", "watches"}
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ToolsListChanged

SLOW: Final = "conformance_slow_compute"
WATCHED: Final = "test://watched-resource"
AT_ONCE: Final = 50
PATIENCE_SECONDS: Final = 300


async def main() -> None:
    """Do it, and print a line when it waits for a change and one with the outcomes."""
    order = json.load(sys.stdin)
    changed = asyncio.Event()

    async def hear(message: Any) -> None:
        if str(getattr(getattr(message, "params", None), "uri", "")) == WATCHED:
            changed.set()

    async with AsyncExitStack() as stack:
        server = await _server(stack, order["transport"])
        client = await stack.enter_async_context(
            Client(server, mode=order["mode"], cache=None, message_handler=hear)
        )
        outcomes = await _explored(client)
        arrived = await stack.enter_async_context(_watching(client, order["mode"], changed))
        print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - its result
        async with asyncio.timeout(PATIENCE_SECONDS):
            outcomes["changed"] = await arrived() if order["watches"] else None
        print(json.dumps(outcomes), flush=True)  # noqa: T201 - its result


async def _server(stack: AsyncExitStack, transport: dict[str, Any]) -> Any:
    if "url" not in transport:
        return StdioServerParameters(**transport)
    # The client gives its stream up when nothing has come twice for so long.
    waiting = httpx2.AsyncClient(headers=transport["headers"], timeout=PATIENCE_SECONDS)
    http = await stack.enter_async_context(waiting)
    return streamable_http_client(transport["url"], http_client=http)


async def _explored(client: Client) -> dict[str, Any]:
    heard: list[list[float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        del message
        heard.append([progress, total])

    words = {"arg1": "one", "arg2": "two"}
    contents: Any = (await client.read_resource("test://static-text")).contents
    prompt: Any = await client.get_prompt("conformance_test_prompt_with_arguments", words)
    await client.call_tool("conformance_test_tool_with_progress", {}, progress_callback=note)
    calls = [f"call {number}" for number in range(AT_ONCE)]
    results = await asyncio.gather(*(_computed(client, 0.2, label) for label in calls))
    begun = asyncio.Event()

    async def note_begun(*_: object) -> None:
        begun.set()

    slow = {"seconds": 60, "label": "slow"}
    leaving = asyncio.create_task(client.call_tool(SLOW, slow, progress_callback=note_begun))
    await begun.wait()
    return {
        "resources": [str(each.uri) for each in (await client.list_resources()).resources],
        "prompts": [each.name for each in (await client.list_prompts()).prompts],
        "text": contents[0].text,
        "prompt": prompt.messages[0].content.text,
        "progress": heard,
        "together": sum(label in text for label, text in zip(calls, results, strict=True)),
        "left": leaving.cancel(),
        "after": await _computed(client, 0, "after"),
    }


async def _computed(client: Client, seconds: float, label: str) -> str:
    result: Any = await client.call_tool(SLOW, {"seconds": seconds, "label": label})
    return str(result.content[0].text)


@asynccontextmanager
async def _watching(
    client: Client, mode: str, changed: asyncio.Event
) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """Waits for a change: of a resource in the handshake revisions, of the tools since 2026."""
    if mode == "legacy":
        await client.subscribe_resource(WATCHED)
        yield changed.wait
        return
    async with client.listen(tools_list_changed=True) as subscription:

        async def arrived() -> bool:
            return await anext(aiter(subscription)) == ToolsListChanged()

        yield arrived


if __name__ == "__main__":
    asyncio.run(main())
