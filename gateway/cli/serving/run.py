"""`gateway run`."""

import os
from functools import partial
from typing import Any, Final

import click

from gateway.cli.options import FLAGS, settings_of, settings_options
from gateway.cli.serving.serve import serve_until_stopped
from gateway.cli.serving.stdio import serve_stdio_here
from gateway.errors import ConfigurationError

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
