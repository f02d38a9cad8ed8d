# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 55970c1116c6cb4e6b622e583b0e1b27; generator 1

"""How the tables of entities came to be what they are."""

from typing import Final

HEAD: Final[str | None] = "0003"
"""The newest revision. A database at it is opened without loading Alembic."""
