"""Upgrades a database to the newest revision: on a server, while other programs use it.

There, an index of an existing table is built with `CONCURRENTLY`, so that reads and writes
continue. To do this, the revision's transaction must end first. If the process dies after that, the
revision is half done. So every step can be repeated: it keeps what exists already, and builds an
unfinished index again.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Index, inspect, select, text

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.store.tables import OLDEST_READERS

_log: Final = logging.getLogger(__name__)
NEWEST: Final = "head"
"""Alembic's name of the newest revision."""
_FIRST_NOTED: Final = "0004"
"""The revision that made the table of oldest readers."""
_OWN: Final = Path(__file__).parent
OWN_REVISIONS: Final = _OWN / "versions"
"""The folder of the revisions of the gateway's own tables."""


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration for the gateway's own tables, without a file."""
    config = Config()
    config.set_main_option("script_location", _escaped(_OWN))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", _escaped(OWN_REVISIONS))
    config.attributes["connection"] = connection
    config.attributes["on_version_apply"] = _note_own
    return config


def upgrade(connection: Connection, label: str, to: str = NEWEST) -> None:
    """Run the revisions that the database `label` lacks. Raises `StoreError`.

    They run in the caller's transaction, if there is one. Otherwise each has its own.
    """
    _run(migration_config(connection), label, to)


def upgrade_entities(
    connection: Connection, label: str, revisions: Path, versions: str, to: str = NEWEST
) -> None:
    """Run the generated revisions of the entities' tables. Raises `StoreError`.

    `revisions` is their folder, and `versions` the name of their version table.
    """
    config = migration_config(connection)
    config.set_main_option("version_locations", _escaped(revisions))
    config.attributes["version_table"] = versions
    config.attributes["on_version_apply"] = _reporter("entities")
    _run(config, label, to)


def unknown_revision(revisions: Path, applied: str) -> bool:
    """Whether the folder `revisions` has no revision with the name `applied`."""
    config = migration_config()
    config.set_main_option("version_locations", _escaped(revisions))
    script = ScriptDirectory.from_config(config)
    return applied not in {revision.revision for revision in script.walk_revisions()}


def _run(config: Config, label: str, to: str) -> None:
    try:
        command.upgrade(config, to)
    except CommandError:
        raise StoreError(
            f"{label} was written by a newer version of the gateway; install that version"
        ) from None


def _reporter(tables: str) -> Callable[..., None]:
    def report(*, step: Any, **_more: Any) -> None:
        _log.info("the %s of the database are at revision %s", tables, step.up_revision_id)
        hit("migration.before_commit")

    return report


def _note_own(*, ctx: Any, step: Any, **more: Any) -> None:
    """Store the oldest gateway that can use the new tables. The default is this revision."""
    revision = step.up_revision_id
    oldest = getattr(step.up_revision.module, "oldest_reader", revision)
    if step.is_upgrade and revision >= _FIRST_NOTED:
        table = OLDEST_READERS
        own = table.c.tables == "store"
        # What an older gateway would not understand may be stored already.
        known = ctx.connection.execute(select(table.c.revision).where(own)).scalar_one_or_none()
        ctx.connection.execute(table.delete().where(own))
        newest = max(oldest, known or oldest)
        ctx.connection.execute(table.insert().values(tables="store", revision=newest))
    _reporter("tables")(ctx=ctx, step=step, **more)


def _escaped(path: Path) -> str:
    return str(path).replace("%", "%%")


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
