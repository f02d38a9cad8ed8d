"""`gateway backup create` and `gateway backup verify`."""

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click

from gateway.backup import archive
from gateway.backup.archive import Manifest
from gateway.backup.taking import take_backup
from gateway.cli.groups import WholeGroup
from gateway.cli.operating.state import passphrase_of, state_of
from gateway.cli.options import OPENING, json_option, settings_of, settings_options
from gateway.cli.output import print_json, progress

FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.group(
    cls=WholeGroup,
    name="backup",
    epilog="Example: gateway backup create /backup/monday.gwb",
)
def command() -> None:
    """Write all state of a gateway into one encrypted file.

    GATEWAY_BACKUP_PASSPHRASE has the passphrase, or GATEWAY_BACKUP_PASSPHRASE_FILE names a file
    with it. `gateway restore` restores the backup.
    """


@command.command("create", epilog="Example: gateway backup create /backup/monday.gwb")
@click.argument("file", type=FILE)
@settings_options(*OPENING)
@json_option
def create(*, file: Path, as_json: bool, **flags: Any) -> None:
    """Write the backup FILE, while the gateway serves.

    It contains everything that was acknowledged before. FILE appears when it is complete, with mode
    600.
    """
    settings = settings_of(flags)
    passphrase = passphrase_of(settings)
    with progress("backup") as report:
        manifest = asyncio.run(
            take_backup(state_of(settings), file, passphrase, version("contract-gateway"), report)
        )
    show(file, manifest, "written", as_json=as_json)


@command.command("verify", epilog="Example: gateway backup verify /backup/monday.gwb")
@click.argument("file", type=FILE)
@settings_options(*OPENING)
@json_option
def verify(*, file: Path, as_json: bool, **flags: Any) -> None:
    """Check the whole backup FILE, and write nothing."""
    passphrase = passphrase_of(settings_of(flags))
    with progress("verify") as report:
        manifest = archive.verify(file, passphrase, report)
    show(file, manifest, "whole and unchanged", as_json=as_json)


def show(file: Path, manifest: Manifest, done: str, *, as_json: bool, **more: int) -> None:
    """Print what was done with `file`, and its content. JSON has `more` members."""
    size = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size, "manifest": manifest} | more)
        return
    engines = ", ".join(f"{name} ({each.engine})" for name, each in manifest.databases.items())
    click.echo(f"{file}: {done}, {size} bytes")
    click.echo(f"made {manifest.created_at} by version {manifest.version}; databases: {engines}")
