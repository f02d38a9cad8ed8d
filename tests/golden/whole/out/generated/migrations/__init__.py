# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5feceb66ffc86f38d952786c6d696c79; generator 1

"""The migrations of the tables of entities."""

from typing import Final

HEAD: Final[str | None] = None
"""The newest revision. A database at it is opened without loading Alembic."""
