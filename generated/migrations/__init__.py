# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d5c03a737e9f08aad56538d5f2b0b235; generator 1

"""The migrations of the tables of entities."""

from typing import Final

HEAD: Final[str | None] = "0003"
"""The newest revision. A database at it is opened without loading Alembic."""
