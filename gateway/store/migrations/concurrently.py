"""Migrates a server's database while other programs use it.

An index of an existing table is built with `CONCURRENTLY`, so that reads and writes continue. To do
this, the revision's transaction must end first. If the process dies after that, the revision is
half done. So every step can be repeated: it keeps what exists already, and builds an unfinished
index again.
"""

from functools import partial
from typing import Any

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Index, inspect, text


def build_concurrently(context: MigrationContext) -> None:
    """Make the revisions of `context` build indexes in this way, in steps that can be repeated."""
    connection, implementation = context.connection, context.impl
    if connection is None:
        raise TypeError("revisions run on a connection")
    existing = frozenset(inspect(connection).get_table_names())
    connection.rollback()
    create_index = implementation.create_index

    def build(index: Index, **options: Any) -> None:
        if index.table is None or index.table.name not in existing:
            create_index(index, **{**options, "if_not_exists": True})
            return
        index.dialect_options["postgresql"]["concurrently"] = True
        with context.autocommit_block():
            _rebuild(context, index, partial(create_index, index, **options))

    implementation.create_index = build  # type: ignore[method-assign]  # of this one run
    implementation.create_table = partial(  # type: ignore[method-assign]  # of this one run
        implementation.create_table, if_not_exists=True
    )
    add_column = implementation.add_column

    def add(*arguments: Any, **options: Any) -> None:
        add_column(*arguments, **{**options, "if_not_exists": True})

    implementation.add_column = add  # type: ignore[method-assign]  # of this one run


def _rebuild(context: MigrationContext, index: Index, create: Any) -> None:
    connection: Connection | None = context.connection
    if connection is None:
        raise TypeError("revisions run on a connection")
    # The index waits for running transactions, and no other transaction waits for the index.
    # SET LOCAL has no effect outside a transaction. If a statement fails, the setting stays: each
    # attempt to migrate has its own connection.
    connection.execute(text("SET lock_timeout = 0"))
    name = connection.dialect.identifier_preparer.quote(str(index.name))
    connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))
    create()
    connection.execute(text("RESET lock_timeout"))
