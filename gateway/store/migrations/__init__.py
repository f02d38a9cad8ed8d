"""How the database came to be what it is: one Alembic revision per change of the tables."""

from typing import Final

HEAD: Final = "0005"
"""The newest revision. A database at it is opened without loading Alembic."""
