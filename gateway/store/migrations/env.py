"""What Alembic runs: the revisions, on the connection and in the transaction it was handed."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=attributes.get("version_table", "alembic_version"),
)
context.run_migrations()
