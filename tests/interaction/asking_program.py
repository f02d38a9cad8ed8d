"""Serves two tools that ask on stdio: what a host starts in `test_asking_stdio.py`."""

import asyncio
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from gateway.cli.signals import until_stopped  # noqa: E402 - the path comes first
from gateway.transports.stdio.server import serve_stdio  # noqa: E402 - the path comes first
from tests.interaction.asking_site import NameAndGreeting, open_asking  # noqa: E402 - as above


async def main() -> None:
    """Serve until standard input ends."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_asking(Path(folder), NameAndGreeting()) as site:
            tools = site.gateway.local_tools("administrator")
            await serve_stdio(tools, "1.2.3", max_message_bytes=65536)


asyncio.run(until_stopped(main()))
