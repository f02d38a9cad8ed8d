"""`gateway restore`."""

import asyncio
from pathlib import Path
from typing import Any

import click

from gateway.backup.restoring import restore_backup
from gateway.cli.operating.backup import FILE, show
from gateway.cli.operating.state import passphrase_of, state_of
from gateway.cli.options import OPENING, json_option, settings_of, settings_options
from gateway.cli.output import progress


@click.command(epilog="Example: gateway restore /backup/monday.gwb --data /var/lib/gateway")
@click.argument("file", type=FILE)
@settings_options(*OPENING)
@json_option
def command(*, file: Path, as_json: bool, **flags: Any) -> None:
    """Restore the backup FILE into an empty data folder and, with PostgreSQL, an empty database.

    The whole FILE is checked first, and nothing is replaced. Then start the gateway: it continues
    from the time of the backup.
    """
    settings = settings_of(flags)
    with progress("restore") as report:
        manifest = asyncio.run(
            restore_backup(file, state_of(settings), passphrase_of(settings), report)
        )
    show(file, manifest, f"restored into {settings.data}", as_json=as_json)
