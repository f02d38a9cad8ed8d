"""`gateway backup create`, `gateway backup verify` and `gateway restore`."""

import asyncio
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click

from gateway.backup import archive
from gateway.backup.archive import Manifest
from gateway.backup.copies import ServerTables, store_tables, workspace_tables
from gateway.backup.restoring import restore_backup
from gateway.backup.state import SavedDatabase, SavedState
from gateway.backup.taking import take_backup
from gateway.cli.options import OPENING, WholeGroup, json_option, settings_of, settings_options
from gateway.cli.output import print_json, progress
from gateway.cli.project import open_project
from gateway.contract.rows.entity import shapes_of
from gateway.contract.rows.rows import Shape
from gateway.errors import ConfigurationError, StoreError
from gateway.events.secrets import FILE as SECRETS_KEY_FILE
from gateway.settings import Settings
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.store.sql.sqlite import sqlite_path

# The state of a gateway, located by its settings, for the commands that copy it.


def state_of(settings: Settings) -> SavedState:
    """The state to back up. Raises `StoreError` for a database in memory."""
    return SavedState(
        data=settings.data,
        databases=(
            _database("gateway", settings.database, store_tables(settings.package)),
            _database("workspace", settings.workspace, workspace_tables(_shapes(settings))),
        ),
        package=settings.package,
        configured=_configured(settings),
    )


def passphrase_of(settings: Settings) -> str:
    """The passphrase of backups. Raises `ConfigurationError` if none is set."""
    if settings.backup_passphrase is None:
        raise ConfigurationError(
            "there is no passphrase, and a backup contains secrets; name a file with a long one "
            "with GATEWAY_BACKUP_PASSPHRASE_FILE"
        )
    return settings.backup_passphrase.reveal()


def _database(name: str, url: str, tables: ServerTables) -> SavedDatabase:
    if url.startswith(POSTGRES_PREFIXES):
        return SavedDatabase(name=name, url=url, tables=tables)
    if not url.startswith("sqlite"):
        raise StoreError(f"the {name} database is in memory; there is nothing to copy")
    return SavedDatabase(name=name, path=sqlite_path(url), tables=tables)


def _shapes(settings: Settings) -> Iterator[Shape]:
    """The shapes of the tables in the workspace database.

    The rows of tables that show entities are in the gateway's database.
    """
    catalogue = open_project(settings)
    for upstream in catalogue.upstreams.values():
        if upstream.has_workspace:
            shapes = shapes_of(upstream.tables, catalogue.entities).values()
            yield from (shape for shape in shapes if shape.entity is None)


def _configured(settings: Settings) -> dict[str, str]:
    """The key of endpoints' secrets, in the form of its file, if a setting has it."""
    if settings.secrets_key is None:
        return {}
    keys = (key.strip() for key in settings.secrets_key.reveal().split(","))
    return {SECRETS_KEY_FILE: "\n".join(key for key in keys if key) + "\n"}


# `gateway backup create` and `gateway backup verify`.

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


# `gateway restore`.


@click.command(epilog="Example: gateway restore /backup/monday.gwb --data /var/lib/gateway")
@click.argument("file", type=FILE)
@click.option(
    "--run-pending",
    is_flag=True,
    help="Make the calls that waited when the backup was made. They may have been made since.",
)
@settings_options(*OPENING)
@json_option
def restore_command(*, file: Path, run_pending: bool, as_json: bool, **flags: Any) -> None:
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
