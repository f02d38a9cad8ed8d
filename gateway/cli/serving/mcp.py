"""`gateway mcp`."""

import asyncio
from pathlib import Path
from typing import Any

import click

from gateway.app import VERSION, Gateway
from gateway.catalogue import Catalogue
from gateway.cli.known import known_agent, known_connector
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.options import OPENING, settings_of, settings_options
from gateway.cli.project import open_project
from gateway.cli.remote import checked_url, refuse_mixed, remote_key, remote_options
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.transports.bridge.serving import ANSWER_SECONDS, serve_bridge
from gateway.transports.stdio.server import serve_stdio


@click.command(epilog="Example: gateway mcp --agent flight_search")
@remote_options
@click.option(
    "--agent", help="The agent whose tools are served; required without --url.  [GATEWAY_AGENT]"
)
@click.option("--connector", help="Serve the tools of one connector, with their short names.")
@click.option(
    "--answer-timeout",
    type=click.FloatRange(min=0.1, max=3600),
    metavar="SECONDS",
    help=f"Seconds to wait for a response of --url.  [default: {ANSWER_SECONDS:g}]",
)
@settings_options(*OPENING)
def command(
    *,
    url: str | None,
    key_file: Path | None,
    agent: str | None,
    connector: str | None,
    answer_timeout: float | None,
    **flags: Any,
) -> None:
    """Serve MCP on standard input and output, for hosts that start the server as a program.

    Runs the tools in this process, or forwards everything to the gateway at --url.
    """
    refuse_mixed(url, key_file, {"--agent": agent, "--connector": connector})
    settings = settings_of(flags)
    if url is None:
        if answer_timeout is not None:
            raise click.UsageError("--answer-timeout requires --url")
        serve_stdio_here(settings, agent=agent, connector=connector)
    else:
        key = remote_key(settings, key_file)
        work = serve_bridge(
            checked_url(url),
            key,
            answer_seconds=ANSWER_SECONDS if answer_timeout is None else answer_timeout,
        )
        asyncio.run(until_stopped(work))


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
        report_new_key(gateway, settings)
        async with gateway.local_followers(agent) as followers:
            await serve_stdio(
                gateway.local_tools(agent),
                VERSION,
                max_message_bytes=settings.max_body_bytes,
                connector=connector,
                followers=followers,
            )
