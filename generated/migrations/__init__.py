# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 31eece51be663e67bcd72848d845c15b; generator 1

"""How the tables of entities came to be what they are."""

from typing import Final

HEAD: Final[str | None] = "0001"
"""The newest revision. A database at it is opened without loading Alembic."""
