"""The column types of tables and migrations, by kind of column."""

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
"""SQLAlchemy types. Moments are microseconds since 1970 in every database."""
TIMES_TYPE: Final = 'JSON().with_variant(JSONB(), "postgresql")'
"""JSONB, because PostgreSQL cannot change a part of a JSON value."""
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
"""The imports of these types. The formatter removes unused ones."""
