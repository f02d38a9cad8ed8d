# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e3b0c44298fc1c149afbf4c8996fb924; generator 1

"""The tables of entities."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import Table

TABLES: Final[Mapping[str, Table]] = MappingProxyType({})
"""By kind."""
