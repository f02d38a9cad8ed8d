# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6b271bd5142836968cac78bba247a05c; generator 1

"""The migrations of the tables of entities."""

from typing import Final

HEAD: Final[str | None] = "0003"
"""The newest revision. A database at it is opened without loading Alembic."""
