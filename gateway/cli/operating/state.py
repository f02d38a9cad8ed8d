"""The state of a gateway, located by its settings, for the commands that copy it."""

from collections.abc import Iterator

from gateway.backup.copies import ServerTables, store_tables, workspace_tables
from gateway.backup.state import SavedDatabase, SavedState
from gateway.cli.project import open_project
from gateway.contract.rows.entity import shapes_of
from gateway.contract.rows.rows import Shape
from gateway.errors import ConfigurationError, StoreError
from gateway.events.secrets import FILE as SECRETS_KEY_FILE
from gateway.settings import Settings
from gateway.store.sql.engines import POSTGRES_PREFIXES
from gateway.store.sql.sqlite import sqlite_path


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
