"""A table of entities with a column of every kind, as the generator would make it, for tests."""

from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, Float, MetaData, String, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

KIND = "facts"


def _moment(name: str, *, is_nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=is_nullable, info={"kind": "moment"})


TABLE = Table(
    "entity_facts",
    MetaData(),
    Column("id", String(36), primary_key=True),
    Column("name", Text, nullable=False, info={"kind": "text"}),
    Column("status", Text, info={"kind": "text"}),
    Column("seats", BigInteger, info={"kind": "integer"}),
    Column("price", Float(53), info={"kind": "number"}),
    Column("is_open", Boolean, info={"kind": "boolean"}),
    Column("day", Date, info={"kind": "date"}),
    _moment("seen_at", is_nullable=True),
    Column("content", JSON(none_as_null=True), info={"kind": "json"}),
    Column("row_id", Text, info={"kind": "text"}),
    Column("webhook_id", String(36), nullable=False),
    _moment("occurred_at"),
    _moment("created_at"),
    _moment("updated_at"),
    Column("column_times", JSON().with_variant(JSONB(), "postgresql"), nullable=False),
    info={"key": ("name",), "filters": ("name", "status", "is_open", "seats", "price", "day")},
)
