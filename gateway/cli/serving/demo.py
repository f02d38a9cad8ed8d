"""`gateway demo`."""

import os
from pathlib import Path
from typing import Any, Final

import click

from gateway.cli.options import FLAGS, settings_from, settings_options
from gateway.cli.serving.serve import serve_until_stopped
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.library import library_folder

DATA: Final = Path(".gateway-demo")
_OF_THE_PROJECT: Final = frozenset({"schemas", "package", "handler_packages"})
"""The settings that choose what is served. Here, that is the library."""
STATE_VARIABLES: Final = ("GATEWAY_DATABASE_URL", "GATEWAY_WORKSPACE_URL", "GATEWAY_REDIS_URL")
"""The variables of a project's state. A demonstration must not change that."""


@click.command(epilog="Example: gateway demo --port 8700")
@settings_options(*(key for key in FLAGS if key not in _OF_THE_PROJECT))
def command(**flags: Any) -> None:
    """Serve the ready connectors of this installation until stopped, to try them.

    Needs no project, and reads none: no `gateway.toml` of this folder, and no variable that names a
    database or a Redis. Upstreams without credentials are mocked. The data is in `.gateway-demo`,
    unless --data names another folder. Otherwise like `gateway serve`.
    """
    library = {
        "schemas": library_folder() / "schemas",
        "package": "generated",
        "handler_packages": HANDLER_PACKAGES,
    }
    data = flags["data"] or DATA
    environ = {
        name: text for name, text in os.environ.items() if not name.startswith(STATE_VARIABLES)
    }
    settings = settings_from({**flags, **library, "data": data}, environ, flags["config"])
    click.echo(f"note: serving the ready connectors, with the data in {data}", err=True)
    serve_until_stopped(settings)
