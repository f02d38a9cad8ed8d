"""`gateway mcp`.

What serves in this process is imported only then: a bridge needs a tenth of the memory without it.
"""

import asyncio
from pathlib import Path
from typing import Any

import click

from gateway.cli.options import (
    OPENING,
    checked_url,
    refuse_mixed,
    remote_key,
    remote_options,
    settings_of,
    settings_options,
)
from gateway.cli.signals import until_stopped
from gateway.settings import Settings
from gateway.transports.bridge.serving import ANSWER_SECONDS, serve_bridge


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
        _serve_here(settings, agent, connector)
    else:
        key = remote_key(settings, key_file)
        work = serve_bridge(
            checked_url(url),
            key,
            answer_seconds=ANSWER_SECONDS if answer_timeout is None else answer_timeout,
        )
        asyncio.run(until_stopped(work))


def _serve_here(settings: Settings, agent: str | None, connector: str | None) -> None:
    from gateway.cli.serving.run import serve_stdio_here  # noqa: PLC0415 - a bridge does without it

    serve_stdio_here(settings, agent=agent, connector=connector)
