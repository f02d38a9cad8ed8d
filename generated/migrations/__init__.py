# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 861f1d8ace5b00d2bef26e9d6ac4e575; generator 1

"""The migrations of the tables of entities."""

from typing import Final

HEAD: Final[str | None] = "0003"
"""The newest revision. A database at it is opened without loading Alembic."""
