"""Bringing a database to the newest revision."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from gateway.errors import StoreError


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, without a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, path: Path) -> None:
    """Run what `path` is missing, inside the caller's transaction. Raises `StoreError`."""
    try:
        command.upgrade(migration_config(connection), "head")
    except CommandError:
        raise StoreError(
            f"{path} was written by a newer version of the gateway; install that version"
        ) from None
