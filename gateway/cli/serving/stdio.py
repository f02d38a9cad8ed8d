"""Serves MCP on standard input and output in this process, which opens the gateway."""

import asyncio

from gateway.app import VERSION, Gateway
from gateway.catalogue import Catalogue
from gateway.cli.known import known_agent, known_connector
from gateway.cli.local import report_new_key, start_logs
from gateway.cli.project import open_project
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.transports.stdio.server import serve_stdio


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
