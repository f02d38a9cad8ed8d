"""`gateway serve`."""

from functools import partial
from typing import Any

import click

from gateway.app import serve
from gateway.auth.keys import BOOTSTRAP_FILE, NewKey
from gateway.cli.local import start_logs
from gateway.cli.options import FLAGS, settings_of, settings_options, work_policy
from gateway.cli.output import announce
from gateway.settings import Settings


@click.command(epilog="Example: gateway serve --port 8700 --data /var/lib/gateway")
@settings_options(*FLAGS)
def command(**flags: Any) -> None:
    """Serve the tools over MCP and REST until stopped.

    Prints only `ready URL` on standard output, when it can serve. Logs go to standard error, and so
    does the first administrator's key when this start creates it.
    """
    serve_until_stopped(settings_of(flags))


def serve_until_stopped(settings: Settings) -> None:
    """Serve over HTTP. Raises an `OperatorError` if the gateway cannot start."""
    catalogue = start_logs(settings)
    serve(settings, partial(_announce, settings), work=work_policy(), catalogue=catalogue)


def _announce(settings: Settings, url: str, new_key: NewKey | None) -> None:
    if new_key is not None:
        place = settings.data / BOOTSTRAP_FILE
        click.echo(f"administrator key, shown once and stored in {place}: {new_key.key}", err=True)
    announce(url)
