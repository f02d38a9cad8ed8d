"""How a column of each kind is declared, in the tables and in their migrations alike."""

from collections.abc import Mapping
from typing import Final

from gateway.contract.rows.rows import ColumnKind

SQL_TYPES: Final[Mapping[ColumnKind, str]] = {
    "text": "Text",
    "integer": "BigInteger",
    "number": "Float(53)",
    "boolean": "Boolean",
    "date": "Date",
    "moment": "BigInteger",
    "json": "JSON(none_as_null=True)",
}
"""In words of SQLAlchemy. Moments are microseconds since 1970, alike in every database."""
TIMES_TYPE: Final = 'JSON().with_variant(JSONB(), "postgresql")'
"""PostgreSQL can change a part only of the binary form."""
PYTHON_TYPES: Final[Mapping[ColumnKind, str]] = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "date": "date",
    "moment": "int",
    "json": "Any",
}
TYPE_IMPORTS: Final = (
    "from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, Float, Index, Text",
    "from sqlalchemy.dialects.postgresql import JSONB",
)
"""Formatting removes what is not used."""
