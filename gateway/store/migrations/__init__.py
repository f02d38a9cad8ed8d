"""The migrations of the database: one Alembic revision for each change of the tables."""

from typing import Final

HEAD: Final = "0019"
"""The newest revision. A database at this revision is opened without loading Alembic."""
OLDEST_READER: Final = "0014"
"""The newest revision of the oldest gateway that can use the tables at `HEAD`."""
