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
@click.option(
    "--run-pending",
    is_flag=True,
    help="Make the calls that waited when the backup was made. They may have been made since.",
)
@settings_options(*OPENING)
@json_option
def command(*, file: Path, run_pending: bool, as_json: bool, **flags: Any) -> None:
    """Restore the backup FILE into an empty data folder and, with PostgreSQL, an empty database.

    The whole FILE is checked first, and nothing is replaced. Then start the gateway: it continues
    from the time of the backup. Calls that waited then may have been made since. Those that change
    something are not made again: they end as outcome_unknown, and you can redrive them.
    """
    settings = settings_of(flags)
    with progress("restore") as report:
        restored = asyncio.run(
            restore_backup(
                file,
                state_of(settings),
                passphrase_of(settings),
                report,
                run_pending=run_pending,
            )
        )
    done = f"restored into {settings.data}"
    show(file, restored.manifest, done, as_json=as_json, calls_in_doubt=restored.calls_in_doubt)
    if restored.calls_in_doubt and not as_json:
        click.echo(
            f"calls that waited or ran, and may have been made since: {restored.calls_in_doubt};"
            " those that change something end as outcome_unknown and are not made again"
        )
