"""`gateway demo`."""

from typing import Any, Final

import click

from gateway.cli.options import FLAGS, demo_settings, settings_options
from gateway.cli.plain import plain
from gateway.cli.serving.serve import serve_until_stopped

_OF_THE_PROJECT: Final = frozenset({"schemas", "package", "handler_packages"})
"""The settings that choose what is served. Here, that is the library."""


@click.command(epilog="Example: gateway demo --port 8700")
@settings_options(*(key for key in FLAGS if key not in _OF_THE_PROJECT))
def command(**flags: Any) -> None:
    """Serve the ready connectors of this installation until stopped, to try them.

    Needs no project, and reads none: no `gateway.toml` of this folder, and no variable that names a
    database or a Redis. Upstreams without credentials are mocked. The data is in `.gateway-demo`,
    unless --data names another folder. `gateway keys create AGENT --data .gateway-demo` makes a key
    for one of its agents. Otherwise like `gateway serve`.
    """
    settings = demo_settings(flags)
    note = f"note: serving the ready connectors, with the data in {settings.data}"
    click.echo(plain(note), err=True)
    serve_until_stopped(settings)
