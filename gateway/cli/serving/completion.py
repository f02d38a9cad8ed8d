"""`gateway completion`."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from gateway.cli.commands import cli

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_GATEWAY_COMPLETE"


@click.command(
    epilog="Example: gateway completion bash > ~/.local/share/bash-completion/completions/gateway"
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script for completing commands and options in SHELL."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell} is not supported by the installed click")
    click.echo(found(cli, {}, "gateway", _VARIABLE).source())
