"""Alembic's entry point: runs the revisions on the connection that it gets.

They run in the caller's transaction, if there is one. Otherwise, on a server, each has its own
transaction. So indexes can be built without locking tables that are in use.
"""

from alembic import context

from gateway.store.migrations.upgrade import build_concurrently

attributes = context.config.attributes
connection = attributes["connection"]
has_own = connection.dialect.name == "postgresql" and not connection.in_transaction()
context.configure(
    connection=connection,
    version_table=attributes.get("version_table", "alembic_version"),
    transaction_per_migration=has_own,
    on_version_apply=attributes["on_version_apply"],
)
if has_own:
    build_concurrently(context.get_context())
with context.begin_transaction():
    context.run_migrations()
