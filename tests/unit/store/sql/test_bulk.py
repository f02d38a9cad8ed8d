"""The SQL that adds many rows at once."""

import pytest
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, String, Table

from gateway.store.sql.statements import Bulk
from gateway.store.tables import Moment


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        (Boolean(), "boolean[]"),
        (Integer(), "integer[]"),
        (BigInteger(), "bigint[]"),
        (Float(53), "double precision[]"),
        (Moment(), "bigint[]"),
        (String(), "text[]"),
    ],
)
def test_each_column_goes_to_postgresql_as_an_array_of_its_type(kind, array) -> None:
    table = Table("things", MetaData(), Column("value", kind))

    assert f"unnest($1::{array})" in Bulk(table)._insert_arrays
