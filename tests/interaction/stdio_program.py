"""Serves the catalogue under test on stdio: what a host starts in `test_stdio.py`."""

import asyncio
import importlib.util
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from gateway.auth.local import LocalIdentification  # noqa: E402 - the path comes first
from gateway.cli.signals import until_stopped  # noqa: E402 - the path comes first
from gateway.contract.operation import Effect  # noqa: E402 - the path comes first
from gateway.transports.mcp.tools import Tools  # noqa: E402 - the path comes first
from gateway.transports.stdio.server import serve_stdio  # noqa: E402 - the path comes first


def load_conftest() -> ModuleType:
    """The fixtures' module, outside of pytest."""
    spec = importlib.util.spec_from_file_location("conftest", HERE / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conftest"] = module
    spec.loader.exec_module(module)
    return module


def note(file: str, text: str) -> None:
    """Say in `file` how far a write is."""
    Path(file).write_text(text)


async def write_slowly(_: Any, arguments: Mapping[str, Any], __: Any) -> dict[str, Any]:
    """Write to the file that the caller names."""
    note(arguments["name"], "begun")
    try:
        await asyncio.sleep(arguments.get("times", 1) / 2)
    except asyncio.CancelledError:
        note(arguments["name"], "cut off")
        raise
    note(arguments["name"], "ended")
    return {"greeting": "written"}


async def main() -> None:
    """Serve until standard input ends, with a handler that is careless with standard streams."""
    conftest = load_conftest()
    greet = conftest.Handlers.greet

    async def careless(self: Any, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        print("printed by a handler")  # noqa: T201 - the carelessness under test
        subprocess.run(["echo", "printed by a child"], check=True)  # noqa: ASYNC221 - as careless
        assert not sys.stdin.read()
        result: dict[str, Any] = await greet(self, arguments, context)
        return result

    is_write = "--writes" in sys.argv
    conftest.Handlers.greet = write_slowly if is_write else careless
    running = conftest.build_running(effect=Effect.WRITE if is_write else Effect.READ)
    local = LocalIdentification("greeter")
    pipeline = replace(running.pipeline, identification=local)
    tools = Tools(pipeline.invoke, local, running.catalogue, pipeline.policy)
    await serve_stdio(tools, "1.2.3", max_message_bytes=65536)


asyncio.run(until_stopped(main()))
