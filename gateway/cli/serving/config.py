"""`gateway config` and `gateway completion`."""

from typing import Any, Final

import click
from click.shell_completion import get_completion_class

from gateway.cli.commands import cli
from gateway.cli.options import FLAGS, json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table
from gateway.cli.project import open_project

# `gateway config`.


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


# `gateway completion`.

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_GATEWAY_COMPLETE"


@click.command(
    epilog="Example: gateway completion bash > ~/.local/share/bash-completion/completions/gateway"
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the script for completing commands and options in SHELL."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell} is not supported by the installed click")
    click.echo(found(cli, {}, "gateway", _VARIABLE).source())
