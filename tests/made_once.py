"""The tables of SQLite: every store of the tests has the same, so they are compiled once."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Table, text

from gateway.store.sql import engine

_SCHEMA = text(
    "SELECT sql FROM sqlite_master "
    "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
)


@contextmanager
def made_once() -> Iterator[None]:
    """Create tables by the text that the first store of the process had."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create_all", _remembering(engine.create_all))
        yield


def _remembering(create_all: Any) -> Any:
    made: list[str] = []

    def create(connection: Connection, entities: Iterable[Table]) -> None:
        if connection.dialect.name != "sqlite" or _statements(connection):
            create_all(connection, entities)
            return
        if not made:
            create_all(connection, ())
            made.extend(_statements(connection))
        else:
            for statement in made:
                connection.exec_driver_sql(statement)
        for table in entities:
            table.create(connection, checkfirst=True)

    return create


def _statements(connection: Connection) -> list[str]:
    return list(connection.execute(_SCHEMA).scalars())
