"""Creates the tables of a new file, as the migrations would."""

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Column, Connection, MetaData, String, Table

from gateway.failpoints import hit
from gateway.store.migrations import OLDEST_READER
from gateway.store.tables.base import METADATA, OLDEST_READERS

_VERSION: Final = "version_num"
"""The name and type that Alembic gives it."""


def create_all(connection: Connection, entities: Iterable[Table]) -> None:
    """Create the current tables that do not exist. `entities` are those of entities."""
    METADATA.create_all(connection)
    for table in entities:
        table.create(connection, checkfirst=True)


def create_at_head(
    connection: Connection, entities: Iterable[Table], revisions: Mapping[str, str]
) -> None:
    """Create the current tables in an empty file, and store that no revision is missing.

    `revisions` are the newest ones by version table. This takes a third of the processor time of
    all revisions, and a start needs no Alembic.
    """
    create_all(connection, entities)
    connection.execute(OLDEST_READERS.insert().values(tables="store", revision=OLDEST_READER))
    for name, revision in revisions.items():
        _store_version(connection, name, revision)
    hit("migration.before_commit")


def _store_version(connection: Connection, name: str, revision: str) -> None:
    table = Table(name, MetaData(), Column(_VERSION, String(32), primary_key=True, nullable=False))
    table.create(connection, checkfirst=False)
    connection.execute(table.insert().values({_VERSION: revision}))
