"""Bringing a database to the newest revision."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from gateway.errors import StoreError

_OWN: Final = Path(__file__).parent


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration for the gateway's own tables, without a file."""
    config = Config()
    config.set_main_option("script_location", _escaped(_OWN))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, place: str) -> None:
    """Run what `place` is missing, inside the caller's transaction. Raises `StoreError`."""
    _run(migration_config(connection), place)


def upgrade_entities(connection: Connection, place: str, revisions: Path, versions: str) -> None:
    """The same for the tables of entities: the generated `revisions`, counted in `versions`."""
    config = migration_config(connection)
    config.set_main_option("version_locations", _escaped(revisions))
    config.attributes["version_table"] = versions
    _run(config, place)


def _run(config: Config, place: str) -> None:
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise StoreError(
            f"{place} was written by a newer version of the gateway; install that version"
        ) from None


def _escaped(path: Path) -> str:
    return str(path).replace("%", "%%")
