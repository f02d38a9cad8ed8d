"""The process under verification: a gateway with all tools granted, and only mocks.

`python -m gateway.cli.verification.process serve|mcp FOLDER`. Tools that no agent is granted are
verified too. `gateway serve` has no setting to grant more than the policy, so this module exists.
"""

import asyncio
import os
import sys
from pathlib import Path

from gateway.app import VERSION, Gateway, ServeOptions, serve
from gateway.auth.keys import ADMINISTRATOR
from gateway.catalogue import open_catalogue
from gateway.errors import OperatorError
from gateway.settings import Settings, read_settings
from gateway.transports.stdio.server import serve_stdio


def main(transport: str, data: Path) -> None:
    """Serve until stopped, or until standard input ends."""
    settings = read_settings(os.environ, None, {"data": data, "port": 0})
    catalogue = open_catalogue(settings.package, settings.handler_packages)
    grants = {ADMINISTRATOR: frozenset(entry.id for entry in catalogue.entries)}
    if transport == "serve":
        serve(settings, lambda url, _: _announce(url), ServeOptions(grants=grants))
    else:
        asyncio.run(_serve_stdio(settings, grants))


def _announce(url: str) -> None:
    sys.stdout.write(f"ready {url}\n")
    sys.stdout.flush()


async def _serve_stdio(settings: Settings, grants: dict[str, frozenset[str]]) -> None:
    async with Gateway.open(settings, grants=grants) as gateway:
        await serve_stdio(
            gateway.local_tools(ADMINISTRATOR), VERSION, max_message_bytes=settings.max_body_bytes
        )


if __name__ == "__main__":
    try:
        main(sys.argv[1], Path(sys.argv[2]))
    except OperatorError as error:
        sys.exit(f"error: {error.detail}")
