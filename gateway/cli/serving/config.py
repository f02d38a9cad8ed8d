"""`gateway config`."""

from typing import Any

import click

from gateway.cli.options import FLAGS, json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table
from gateway.cli.project import open_project


@click.command(epilog="Example: GATEWAY_PORT=9000 gateway config --json")
@settings_options(*FLAGS)
@json_option
def command(*, as_json: bool, **flags: Any) -> None:
    """Print every setting with its value and its source. Secrets are masked."""
    settings = settings_of(flags)
    catalogue = open_project(settings)
    rows = settings.describe(catalogue.upstreams.values(), catalogue.sources)
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("setting", "value", "from", "meaning"),
            ((row.name, row.value, row.origin, row.description) for row in rows),
        )
