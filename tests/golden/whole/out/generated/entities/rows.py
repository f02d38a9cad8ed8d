# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e3b0c44298fc1c149afbf4c8996fb924; generator 1

"""The rows of entities, as SQLModel classes."""

# SQLModel declares __tablename__ as a method, and accepts a text.
# pyright: reportAssignmentType=false

from sqlalchemy.orm import registry
from sqlmodel import SQLModel


class Rows(SQLModel, registry=registry()):
    """The base with this package's own registry, separate from other packages."""
