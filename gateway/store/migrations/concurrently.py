"""Migrations of a server's database while others use it.

An index of a table that was there before is built with `CONCURRENTLY`: reads and writes go on. That
needs the end of the revision's transaction. A start that dies after it leaves a revision that is
half done, so every step is one that can be made again: what is there already is left as it is, and
an index that was not finished is built again.
"""

from functools import partial
from typing import Any

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Index, inspect, text


def build_concurrently(context: MigrationContext) -> None:
    """Have the revisions that `context` runs build indexes so, and repeat what is half done."""
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
    # It waits for the transactions that are under way, and nobody waits for it.
    connection.execute(text("SET lock_timeout = 0"))
    name = connection.dialect.identifier_preparer.quote(str(index.name))
    connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))
    create()
    connection.execute(text("RESET lock_timeout"))
