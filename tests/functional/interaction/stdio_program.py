"""Serves the catalogue under test on stdio: what a host starts in `test_stdio_program.py`."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from gateway.auth.principal import LocalIdentification  # noqa: E402 - the path comes first
from gateway.cli.signals import until_stopped  # noqa: E402 - the path comes first
from gateway.contract.operation import Effect  # noqa: E402 - the path comes first
from gateway.transports.mcp.tools import Tools  # noqa: E402 - the path comes first
from gateway.transports.stdio.server import serve_stdio  # noqa: E402 - the path comes first
from tests.eventually import PATIENCE_SECONDS  # noqa: E402 - the path comes first
from tests.interaction import conftest  # noqa: E402 - the path comes first


def note(file: str, text: str) -> None:
    """Say in `file` how far a write is."""
    Path(file).write_text(text)


async def write_forever(_: Any, arguments: Mapping[str, Any], __: Any) -> dict[str, Any]:
    """Write to the file that the caller names, for longer than any test takes."""
    note(arguments["name"], "begun")
    try:
        await asyncio.sleep(PATIENCE_SECONDS)
    except asyncio.CancelledError:
        note(arguments["name"], "cut off")
        raise
    return {"greeting": "written"}


async def main() -> None:
    """Serve until standard input ends, with a handler that is careless with standard streams."""
    greet = conftest.Handlers.greet

    async def careless(self: Any, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        print("printed by a handler")  # noqa: T201 - the carelessness under test
        subprocess.run(["echo", "printed by a child"], check=True)  # noqa: ASYNC221 - as careless
        assert not sys.stdin.read()
        result: dict[str, Any] = await greet(self, arguments, context)
        return result

    is_write = "--writes" in sys.argv
    conftest.Handlers.greet = write_forever if is_write else careless
    running = conftest.build_running(effect=Effect.WRITE if is_write else Effect.READ)
    local = LocalIdentification("greeter")
    pipeline = replace(running.pipeline, identification=local)
    tools = Tools(pipeline.invoke, local, running.catalogue, pipeline.policy)
    await serve_stdio(tools, "1.2.3", max_message_bytes=65536)


asyncio.run(until_stopped(main()))
