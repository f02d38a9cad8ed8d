"""`gateway mcp`."""

import asyncio
from pathlib import Path
from typing import Any

import click

from gateway.app import VERSION, Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.catalogue import open_catalogue
from gateway.cli.known import known_agent, known_connector
from gateway.cli.local import start_logs, tell_of_new_key
from gateway.cli.options import OPENING, settings_of, settings_options
from gateway.cli.remote import checked_url, refuse_mixed, remote_key, remote_options
from gateway.cli.signals import until_stopped
from gateway.settings import Settings
from gateway.transports.bridge import serve_bridge
from gateway.transports.stdio import serve_stdio


@click.command(epilog="Example: GATEWAY_KEY=… gateway mcp --url https://gateway.example.com/mcp")
@remote_options
@click.option("--agent", help=f"Whose tools to serve.  [default: {ADMINISTRATOR}]")
@click.option("--connector", help="Serve one connector's tools, under their short names.")
@settings_options(*OPENING)
def command(
    *,
    url: str | None,
    key_file: Path | None,
    agent: str | None,
    connector: str | None,
    **flags: Any,
) -> None:
    """Speak MCP on standard input and output, for hosts that start a program.

    Runs the tools in this process, or passes everything on to the gateway at --url.
    """
    refuse_mixed(url, key_file, {"--agent": agent, "--connector": connector})
    settings = settings_of(flags)
    if url is None:
        serve_stdio_here(settings, agent=agent or ADMINISTRATOR, connector=connector)
    else:
        key = remote_key(settings, key_file)
        work = serve_bridge(
            checked_url(url), key, VERSION, max_message_bytes=settings.max_body_bytes
        )
        asyncio.run(until_stopped(work))


def serve_stdio_here(
    settings: Settings, *, agent: str = ADMINISTRATOR, connector: str | None = None
) -> None:
    """Serve this process's tools on stdio. Raises an `OperatorError` when it cannot start."""
    catalogue = open_catalogue(settings.package)
    known_agent(catalogue, agent)
    if connector is not None:
        known_connector(catalogue, connector)
    start_logs(settings)
    asyncio.run(until_stopped(_serve(settings, agent, connector)))


async def _serve(settings: Settings, agent: str, connector: str | None) -> None:
    async with Gateway.open(settings) as gateway:
        tell_of_new_key(gateway, settings)
        async with gateway.local_followers(agent) as followers:
            await serve_stdio(
                gateway.local_tools(agent),
                VERSION,
                max_message_bytes=settings.max_body_bytes,
                connector=connector,
                followers=followers,
            )
