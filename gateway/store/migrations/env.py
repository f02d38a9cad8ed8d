"""What Alembic runs: the revisions, on the connection and in the transaction it was handed."""

from alembic import context

from gateway.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
