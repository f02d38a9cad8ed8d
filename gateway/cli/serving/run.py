"""`gateway run`, and MCP on standard input and output in this process."""

import asyncio
import os
from functools import partial
from typing import Any, Final

import click

from gateway.app import VERSION, Gateway
from gateway.catalogue import Catalogue
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.options import FLAGS, settings_of, settings_options
from gateway.cli.project import known_agent, known_connector, open_project
from gateway.cli.serving.serve import serve_until_stopped
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.transports.stdio.server import serve_stdio

# Serves MCP on standard input and output in this process, which opens the gateway.


def serve_stdio_here(
    settings: Settings, *, agent: str | None = None, connector: str | None = None
) -> None:
    """Serve the tools in this process on stdio, for `agent` or the agent of the settings.

    Raises an `OperatorError` if it cannot start.
    """
    catalogue = open_project(settings)
    if connector is not None:
        known_connector(catalogue, connector)
    agent = known_agent(catalogue, _named(agent or settings.agent, catalogue))
    start_logs(settings, catalogue=catalogue)
    asyncio.run(until_stopped(_serve(settings, catalogue, agent, connector)))


def _named(agent: str, catalogue: Catalogue) -> str:
    """`agent`. Raises `ConfigurationError` if it is empty: the administrator is not the default."""
    if not agent:
        raise ConfigurationError(
            "no agent is given, and stdio has no key that identifies one; name one with --agent "
            f"or GATEWAY_AGENT: {', '.join(sorted(catalogue.grants))}"
        )
    return agent


async def _serve(
    settings: Settings, catalogue: Catalogue, agent: str, connector: str | None
) -> None:
    gateway = Gateway.open(settings)
    gateway.set_catalogue(catalogue)
    async with gateway:
        report_new_key(gateway.parts.new_key, settings)
        async with gateway.local_followers(agent) as followers:
            await serve_stdio(
                gateway.local_tools(agent),
                VERSION,
                max_message_bytes=settings.max_body_bytes,
                max_upload_bytes=settings.max_upload_bytes,
                connector=connector,
                followers=followers,
            )


# `gateway run`.

VARIABLE: Final = "MCP_TRANSPORT"


@click.command(epilog="Example: MCP_TRANSPORT=stdio gateway run")
@settings_options(*FLAGS)
def command(**flags: Any) -> None:
    """Serve over the transport in the variable MCP_TRANSPORT: http (default) or stdio."""
    settings = settings_of(flags)
    match os.environ.get(VARIABLE, "http").strip().lower():
        case "http" | "":
            serve_until_stopped(settings, partial(settings_of, flags))
        case "stdio":
            serve_stdio_here(settings)
        case _:
            raise ConfigurationError(
                f"{VARIABLE} does not name a transport; set it to http or stdio"
            )
